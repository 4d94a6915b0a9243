import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import type { CliCommand } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { aiFormsOf, type AiForms } from '../ai-forms.ts';
import { submissionRecord, submissionsCsv, submissionsJsonl } from '../submissions/submissions-export.ts';
import { readValues, type GivenFile } from '../submit/read-values.ts';
import type { AiForm, FormStore } from './form.ts';
import { formRecord } from './form-record.ts';
import { exportForms, importForms } from './form-transfer.ts';
import { starters } from './starters.ts';

const idArgument = { name: 'id', description: 'Id of the form, see svc form list.' };
const formFlag = {
  type: 'object',
  description:
    'Settings as JSON, as svc form get prints them: {"name", "elements": [{"id", "type", "label", ...}], "prompt", "provider", "model", ...}; update: with "id".',
} as const;
/** What `get` prints and `create` and `update` leave alone. */
const readOnly = ['created_at', 'updated_at', 'submissions'];

/** `svc form list|get|create|update|duplicate|delete|export|import|submissions|run`. */
export function formCommands(context: ServiceContext): CliCommand[] {
  const parts = aiFormsOf(context);
  return [
    ...readingCommands(parts.forms),
    ...changingCommands(parts.forms),
    ...transferCommands(parts.forms),
    ...submissionCommands(context, parts),
  ];
}

function readingCommands(forms: FormStore): CliCommand[] {
  return [
    {
      name: 'svc form list',
      description: 'List the AI forms.',
      run: async () =>
        (await forms.list()).map(({ id, name, status, provider, model, submissions, embed }) => ({
          id,
          name,
          status,
          provider,
          model,
          submissions,
          embed: embed.enabled ? (embed.any_site ? 'any site' : embed.allowed_domains.join(', ') || 'own site') : 'off',
        })),
    },
    {
      name: 'svc form get',
      description: 'Print a form with all its settings.',
      args: [idArgument],
      run: async ({ args: [id] }) => formRecord(await find(forms, id)),
    },
  ];
}

function changingCommands(forms: FormStore): CliCommand[] {
  return [
    {
      name: 'svc form create',
      description: 'Make a form and print it with its id. What is not named gets a default, or that of a starter.',
      flags: {
        json: formFlag,
        starter: { type: 'string', enum: starters.map(({ id }) => id), description: 'What to begin with.' },
      },
      run: async ({ flags }) => {
        const starter = starters.find(({ id }) => id === flags['starter']);
        const { id, ...settings } = settingsFrom(flags, starter !== undefined);
        if (id !== undefined)
          throw new Error('A new form gets its id from the service. To change one, use svc form update.');
        return formRecord(await forms.create({ ...starter?.settings, ...settings }));
      },
    },
    {
      name: 'svc form update',
      description: 'Change the form that "id" names, and print it; what is not named stays.',
      flags: { json: formFlag },
      run: async ({ flags }) => {
        const { id, ...changes } = settingsFrom(flags, false);
        if (id === undefined) throw new Error('Name the form to change: "id" in the object. See svc form list.');
        return formRecord(await forms.update((await find(forms, id)).id, changes));
      },
    },
    {
      name: 'svc form duplicate',
      description: 'Make another form with the same settings, inactive, and print it.',
      args: [idArgument],
      run: async ({ args: [id] }) => formRecord(await forms.duplicate((await find(forms, id)).id)),
    },
    {
      name: 'svc form delete',
      description: 'Delete a form with its submissions.',
      args: [idArgument],
      run: async ({ args: [id] }) => {
        const form = await find(forms, id);
        return { id: form.id, deleted: await forms.delete(form.id) };
      },
    },
  ];
}

function transferCommands(forms: FormStore): CliCommand[] {
  return [
    {
      name: 'svc form export',
      description:
        'Print forms as JSON for svc form import, without ids and submissions: one, several, or all where none is named.',
      args: [{ ...idArgument, optional: true, rest: true }],
      flags: { json: { type: 'boolean', description: 'print JSON' } },
      run: async ({ args, flags }) => {
        const chosen: AiForm[] = [];
        for (const id of args) chosen.push(await find(forms, id));
        const transfer = exportForms(args.length === 0 ? await forms.list() : chosen);
        return flags['json'] === true ? transfer : JSON.stringify(transfer, null, 2);
      },
    },
    {
      name: 'svc form import',
      description: 'Make the forms of an export: all of them, or none where one is refused. Print them.',
      args: [{ name: 'file', description: 'File that svc form export wrote, or - for standard input.' }],
      run: async ({ args: [file = '-'] }) =>
        (await importForms((await readInput(file)).toString('utf8'), forms)).map(({ id, name, status }) => ({
          id,
          name,
          status,
        })),
    },
  ];
}

function submissionCommands(context: ServiceContext, parts: AiForms): CliCommand[] {
  return [
    {
      name: 'svc form submissions',
      description: 'Print submissions of a form, or of all forms; newest first.',
      args: [{ ...idArgument, optional: true }],
      flags: {
        status: { type: 'string', enum: ['running', 'completed', 'failed'], description: 'Only these.' },
        search: { type: 'string', description: 'Words in fields or answers.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 10_000,
          default: 20,
          description: 'How many at most; an export has all of them.',
        },
        export: { type: 'string', enum: ['csv', 'jsonl'], description: 'All of them as a file, on standard output.' },
      },
      run: async ({ args: [id], flags }) => {
        const form = id === undefined ? undefined : await find(parts.forms, id);
        const filter = {
          formId: form?.id,
          status: flags['status'] as 'completed' | undefined,
          search: flags['search'] as string | undefined,
        };
        if (flags['export'] === 'csv') return joined(submissionsCsv(parts.submissions.all(filter)));
        if (flags['export'] === 'jsonl') return joined(submissionsJsonl(parts.submissions.all(filter)));
        return (await parts.submissions.list(filter, { limit: Number(flags['limit'] ?? 20), offset: 0 })).map(
          submissionRecord,
        );
      },
    },
    {
      name: 'svc form run',
      description:
        'Submit a form and print its answer. It counts as a submission and sends its event; limits of visitors do not hold.',
      args: [idArgument],
      flags: {
        json: {
          type: 'object',
          description:
            'What is filled in, by id of the field: {"topic": "A bakery by the sea"}; of a file field the path of a file.',
        },
      },
      run: ({ args: [id], flags }) => run(context, parts, { id, given: flags['json'] }),
    },
  ];
}

async function run(
  context: ServiceContext,
  { forms, submit }: AiForms,
  { id, given }: { readonly id: unknown; readonly given: unknown },
): Promise<unknown> {
  const form = await find(forms, id);
  const values = isObject(given) ? given : {};
  const files: Record<string, GivenFile> = {};
  for (const element of form.elements) {
    const path = values[element.id];
    if (element.type === 'file' && typeof path === 'string' && path !== '')
      files[element.id] = { name: basename(path), bytes: await readInput(path) };
  }
  const { answer } = await submit({
    form,
    user: { id: 0, displayName: '', roles: [] },
    session: '',
    limit: null,
    id: randomUUID(),
    values: await readValues(form.elements, { values, files }),
    pageUrl: '',
    signal: new AbortController().signal,
  });
  const { id: submission, number, response, made } = await answer;
  context.host.log.debug('a form was run from the command line', { form: form.id, submission });
  return {
    submission_id: submission,
    number,
    response,
    provider: made?.provider,
    model: made?.model,
    usage: made?.usage,
    cost_usd: made?.cost == null ? null : made.cost / 1_000_000,
  };
}

async function find(forms: FormStore, id: unknown): Promise<AiForm> {
  const form = await forms.get(/^[1-9]\d{0,9}$/.test(String(id)) ? Number(id) : Number.NaN);
  if (form === null) throw new Error(`There is no form with the id ${String(id)}. See svc form list.`);
  return form;
}

function settingsFrom(
  { json }: Readonly<Record<string, unknown>>,
  mayBeLeftOut: boolean,
): Readonly<Record<string, unknown>> {
  if (isObject(json)) return Object.fromEntries(Object.entries(json).filter(([name]) => !readOnly.includes(name)));
  if (mayBeLeftOut) return {};
  throw new Error(
    `Write the form as JSON, for example: --json '{"name": "Name finder", "elements": [{"id": "topic", "type": "text", "label": "Topic", "required": true}], "prompt": "Find a name for: {topic}"}'`,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const piece of pieces) all += piece;
  return all;
}

async function readInput(file: string): Promise<Buffer> {
  if (file === '-') return Buffer.from(await text(process.stdin));
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`The file ${file} cannot be read.`, { cause: error });
  }
}
