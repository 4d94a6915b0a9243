import type { AiForms } from '../ai-forms.ts';
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { asRecord, type CliCommand } from '#plugin-api';
import { toDollars } from '../../../kit/dollars.ts';
import { storedRecord } from '../../../kit/assistants/assistant-rows.ts';
import { namedRecord, recordCommands, type NamedRecord } from '../../../kit/record-commands.ts';
import { readInput } from '../../../kit/transfer-commands.ts';
import { describeEmbed } from '../../../kit/visitors/embed-settings.ts';
import { submissionsCommand } from '../../../kit/submissions/submissions-command.ts';
import { submissionRecord, submissionsCsv } from '../submissions/submissions-export.ts';
import { readValues, type UploadedFile } from '../submit/read-values.ts';
import type { AiForm } from './form.ts';
import { formTransfer } from './form-store.ts';
import { starters } from './starters.ts';

const command = { command: 'svc form', noun: 'form' };

/** `svc form list|get|create|update|duplicate|delete|export|import|submissions|run`. */
export function formCommands(parts: AiForms): CliCommand[] {
  const { forms } = parts;
  return [
    ...recordCommands({
      ...command,
      store: forms,
      descriptions: {
        list: 'List the AI forms.',
        get: 'Print a form with all its settings.',
        create:
          'Create a form and print it with its id. Omitted settings get the default, or the value of the starter.',
        update: 'Change the form with the given "id" and print it. Omitted settings stay.',
        duplicate: 'Create an inactive copy of a form and print it.',
        delete: 'Delete a form and its submissions.',
      },
      list: async () =>
        (await forms.list()).map(({ id, name, status, provider, model, submissions, embed }) => ({
          id,
          name,
          status,
          provider,
          model,
          submissions,
          embed: describeEmbed(embed),
        })),
      print: storedRecord,
      json: {
        description:
          'Settings as JSON, as svc form get prints them: ' +
          '{"name", "elements": [{"id", "type", "label", ...}], "prompt", "provider", "model", ...}; update: with "id".',
        example:
          '{"name": "Name finder", "elements": [{"id": "topic", "type": "text", "label": "Topic", "required": true}], ' +
          '"prompt": "Find a name for: {topic}"}',
        ignored: ['created_at', 'updated_at', 'submissions'],
      },
      start: {
        flags: {
          starter: {
            type: 'string',
            enum: starters.map(({ id }) => id),
            description: 'Starter with the first settings.',
          },
        },
        settings: ({ starter }) => starters.find(({ id }) => id === starter)?.settings ?? null,
      },
      transfer: {
        descriptions: {
          export: 'Print forms as JSON for svc form import, without ids and submissions. Without an id: all forms.',
          import: 'Create the forms of an export and print them. If one is invalid, none is created.',
        },
        list: () => forms.list(),
        transfer: formTransfer,
        store: forms,
        print: ({ id, name, status }) => ({ id, name, status }),
      },
    }),
    ...submissionCommands(parts, namedRecord({ ...command, store: forms })),
  ];
}

function submissionCommands(parts: AiForms, { idArgument, find }: NamedRecord<AiForm>): CliCommand[] {
  return [
    submissionsCommand({
      name: 'svc form submissions',
      description: 'Print submissions of a form, or of all forms; newest first.',
      owner: idArgument,
      flags: {
        status: {
          type: 'string',
          enum: ['running', 'completed', 'failed'],
          description: 'Only submissions with this status.',
        },
      },
      store: parts.submissions,
      filter: async (id, { status }) => ({
        formId: id === undefined ? undefined : (await find(id)).id,
        status: status as 'completed' | undefined,
      }),
      csv: submissionsCsv,
      record: submissionRecord,
    }),
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
      run: async ({ args: [id], flags }) => run(parts, { form: await find(id), input: flags['json'] }),
    },
  ];
}

async function run(
  { host, submit }: AiForms,
  { form, input }: { readonly form: AiForm; readonly input: unknown },
): Promise<unknown> {
  const values = asRecord(input);
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
    data: generation?.data,
    provider: generation?.provider,
    model: generation?.model,
    usage: generation?.usage,
    cost_usd: toDollars(generation?.cost ?? null),
  };
}
