import type { AiForms } from '../ai-forms.ts';
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { isRecord, type CliCommand } from '#plugin-api';
import { readInput, transferCommands } from '../../../kit/transfer-commands.ts';
import { submissionRecord, submissionsCsv, submissionsJsonl } from '../submissions/submissions-export.ts';
import { readValues, type UploadedFile } from '../submit/read-values.ts';
import type { AiForm, FormStore } from './form.ts';
import { formRecord } from './form-store.ts';
import { exportForms, importForms } from './form-transfer.ts';
import { starters } from './starters.ts';

const idArgument = { name: 'id', description: 'Id of the form, see svc form list.' };
const formFlag = {
  type: 'object',
  description:
    'Settings as JSON, as svc form get prints them: ' +
    '{"name", "elements": [{"id", "type", "label", ...}], "prompt", "provider", "model", ...}; update: with "id".',
} as const;
/** Printed by `get`, ignored by `create` and `update`. */
const readOnly = ['created_at', 'updated_at', 'submissions'];

/** `svc form list|get|create|update|duplicate|delete|export|import|submissions|run`. */
export function formCommands(parts: AiForms): CliCommand[] {
  return [
    ...readingCommands(parts.forms),
    ...changingCommands(parts.forms),
    ...transfers(parts.forms),
    ...submissionCommands(parts),
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
      description:
        'Create a form and print it with its id. Omitted settings get the default, or the value of the starter.',
      flags: {
        json: formFlag,
        starter: {
          type: 'string',
          enum: starters.map(({ id }) => id),
          description: 'Starter with the first settings.',
        },
      },
      run: async ({ flags }) => {
        const starter = starters.find(({ id }) => id === flags['starter']);
        const { id, ...settings } = settingsFrom(flags, starter !== undefined);
        if (id !== undefined)
          throw new Error('A new form gets its id from the service. To change a form, use svc form update.');
        return formRecord(await forms.create({ ...starter?.settings, ...settings }));
      },
    },
    {
      name: 'svc form update',
      description: 'Change the form with the given "id" and print it. Omitted settings stay.',
      flags: { json: formFlag },
      run: async ({ flags }) => {
        const { id, ...changes } = settingsFrom(flags, false);
        if (id === undefined) throw new Error('Name the form to change: "id" in the object. See svc form list.');
        return formRecord(await forms.update((await find(forms, id)).id, changes));
      },
    },
    {
      name: 'svc form duplicate',
      description: 'Create an inactive copy of a form and print it.',
      args: [idArgument],
      run: async ({ args: [id] }) => formRecord(await forms.duplicate((await find(forms, id)).id)),
    },
    {
      name: 'svc form delete',
      description: 'Delete a form and its submissions.',
      args: [idArgument],
      run: async ({ args: [id] }) => {
        const form = await find(forms, id);
        return { id: form.id, deleted: await forms.delete(form.id) };
      },
    },
  ];
}

function transfers(forms: FormStore): CliCommand[] {
  return transferCommands({
    command: 'svc form',
    descriptions: {
      export: 'Print forms as JSON for svc form import, without ids and submissions. Without an id: all forms.',
      import: 'Create the forms of an export and print them. If one is invalid, none is created.',
    },
    idArgument,
    find: (id) => find(forms, id),
    list: () => forms.list(),
    exportItems: exportForms,
    importItems: (text) => importForms(text, forms),
    print: ({ id, name, status }) => ({ id, name, status }),
  });
}

function submissionCommands(parts: AiForms): CliCommand[] {
  return [
    {
      name: 'svc form submissions',
      description: 'Print submissions of a form, or of all forms; newest first.',
      args: [{ ...idArgument, optional: true }],
      flags: {
        status: {
          type: 'string',
          enum: ['running', 'completed', 'failed'],
          description: 'Only submissions with this status.',
        },
        search: { type: 'string', description: 'Text in fields or responses.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 10_000,
          default: 20,
          description: 'Maximum number. An export contains all of them.',
        },
        export: { type: 'string', enum: ['csv', 'jsonl'], description: 'Print all of them as CSV or JSON lines.' },
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
        'Submit a form and print the response. It counts as a submission and sends its event. Limits do not apply.',
      args: [idArgument],
      flags: {
        json: {
          type: 'object',
          description:
            'Values by id of the field: {"topic": "A bakery by the sea"}. For a file field, the path of a file.',
        },
      },
      run: ({ args: [id], flags }) => run(parts, { id, input: flags['json'] }),
    },
  ];
}

async function run(
  { host, forms, submit }: AiForms,
  { id, input }: { readonly id: unknown; readonly input: unknown },
): Promise<unknown> {
  const form = await find(forms, id);
  const values = isRecord(input) ? input : {};
  const files: Record<string, UploadedFile> = {};
  for (const element of form.elements) {
    const path = values[element.id];
    if ((element.type === 'file' || element.type === 'image') && typeof path === 'string' && path !== '')
      files[element.id] = { name: basename(path), bytes: await readInput(path) };
  }
  const { completed } = await submit({
    form,
    user: { id: 0, displayName: '', roles: [] },
    session: '',
    limit: null,
    id: randomUUID(),
    values: await readValues(form.elements, { values, files }, { host }),
    pageUrl: '',
    signal: new AbortController().signal,
  });
  const { id: submission, number, response, generation } = await completed;
  host.log.debug('Form run from the command line', { event: 'form_run', form: form.id, submission });
  return {
    submission_id: submission,
    number,
    response,
    provider: generation?.provider,
    model: generation?.model,
    usage: generation?.usage,
    cost_usd: generation?.cost == null ? null : generation.cost / 1_000_000,
  };
}

async function find(forms: FormStore, id: unknown): Promise<AiForm> {
  const form = await forms.get(/^[1-9]\d{0,9}$/.test(String(id)) ? Number(id) : Number.NaN);
  if (form === null) throw new Error(`No form has the id ${String(id)}. See svc form list.`);
  return form;
}

function settingsFrom(
  { json }: Readonly<Record<string, unknown>>,
  isOptional: boolean,
): Readonly<Record<string, unknown>> {
  if (isRecord(json)) return Object.fromEntries(Object.entries(json).filter(([name]) => !readOnly.includes(name)));
  if (isOptional) return {};
  throw new Error(
    `Write the form as JSON, for example: --json '{"name": "Name finder", ` +
      `"elements": [{"id": "topic", "type": "text", "label": "Topic", "required": true}], "prompt": "Find a name for: {topic}"}'`,
  );
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const piece of pieces) all += piece;
  return all;
}
