import type { CliCommand } from '#plugin-api';
import { storedRecord } from '../../../kit/assistants/assistant-rows.ts';
import { describeEmbed } from '../../../kit/visitors/embed-settings.ts';
import { submissionsCommand } from '../../../kit/submissions/submissions-command.ts';
import { namedRecord, recordCommands } from '../../../kit/record-commands.ts';
import type { ChatbotParts } from '../chatbots.ts';
import { submissionRecord, submissionsCsv } from '../forms/submissions-export.ts';
import { botTransfer } from './bot-store.ts';

const command = { command: 'svc bot', noun: 'chatbot' };

/** `svc bot list|get|create|update|duplicate|delete|export|import|submissions`. */
export function botCommands(parts: ChatbotParts): CliCommand[] {
  return [...settingCommands(parts), submissionCommand(parts)];
}

function submissionCommand({ bots, submissions }: ChatbotParts): CliCommand {
  const { idArgument, find } = namedRecord({ ...command, store: bots });
  return submissionsCommand({
    name: 'svc bot submissions',
    description: 'Print submissions of the forms of a chatbot, or of all chatbots; newest first.',
    owner: idArgument,
    flags: { form: { type: 'string', description: 'Only submissions of the forms with this id.' } },
    store: submissions,
    filter: async (id, { form }) => ({
      botId: id === undefined ? undefined : (await find(id)).id,
      formId: form as string | undefined,
    }),
    csv: submissionsCsv,
    record: submissionRecord,
  });
}

function settingCommands({ bots }: ChatbotParts): CliCommand[] {
  return recordCommands({
    ...command,
    store: bots,
    descriptions: {
      list: 'List the chatbots.',
      get: 'Print a chatbot with all its settings.',
      create: 'Create a chatbot and print it with its id. Settings that are left out get defaults.',
      update: 'Change the chatbot with this "id" and print it. Settings that are left out stay.',
      duplicate: 'Create an inactive chatbot with the same settings and print it.',
      delete: 'Delete a chatbot. Its conversations stay in the logs.',
    },
    list: async () =>
      (await bots.list()).map(({ id, name, status, provider, model, embed }) => ({
        id,
        name,
        status,
        provider,
        model,
        embed: describeEmbed(embed),
      })),
    print: storedRecord,
    json: {
      description:
        'Settings as JSON, in the format of svc bot get: {"name", "provider", "model", "instructions", ' +
        '"embed": {"enabled": true, "allowed_domains": ["example.com"]}, ...}. For update, with "id".',
      example: '{"name": "Shop assistant", "instructions": "You help customers of a shop."}',
      ignored: ['created_at', 'updated_at'],
    },
    transfer: {
      descriptions: {
        export: 'Print chatbots as JSON for svc bot import, without their ids: the given ones, or all.',
        import: 'Create the chatbots of an export and print them: all of them, or none if one is invalid.',
      },
      list: () => bots.list(),
      transfer: botTransfer,
      store: bots,
      print: ({ id, name, status }) => ({ id, name, status }),
    },
  });
}
