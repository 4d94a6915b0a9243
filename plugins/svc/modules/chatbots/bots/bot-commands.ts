import type { CliCommand } from '#plugin-api';
import { transferCommands } from '../../../kit/transfer-commands.ts';
import type { ChatbotParts } from '../chatbots.ts';
import type { Bot, BotStore } from './bot.ts';
import { botRecord } from './bot.ts';
import { exportBots, importBots } from './bot-transfer.ts';

const idArgument = { name: 'id', description: 'Id of the chatbot, see svc bot list.' };
const botFlag = {
  json: {
    type: 'object',
    description:
      'Settings as JSON, in the format of svc bot get: {"name", "provider", "model", "instructions", ' +
      '"embed": {"enabled": true, "allowed_domains": ["example.com"]}, ...}. For update, with "id".',
  },
} as const;
/** `get` prints these; `create` and `update` ignore them. */
const readOnly = ['created_at', 'updated_at'];

/** `svc bot list|get|create|update|duplicate|delete|export|import`. */
export function botCommands(parts: ChatbotParts): CliCommand[] {
  const { bots } = parts;
  return [...readingCommands(bots), ...changingCommands(bots), ...transfers(bots)];
}

function readingCommands(bots: BotStore): CliCommand[] {
  return [
    {
      name: 'svc bot list',
      description: 'List the chatbots.',
      run: async () =>
        (await bots.list()).map(({ id, name, status, provider, model, embed }) => ({
          id,
          name,
          status,
          provider,
          model,
          embed: embed.enabled ? (embed.any_site ? 'any site' : embed.allowed_domains.join(', ') || 'own site') : 'off',
        })),
    },
    {
      name: 'svc bot get',
      description: 'Print a chatbot with all its settings.',
      args: [idArgument],
      run: async ({ args: [id] }) => botRecord(await find(bots, id)),
    },
  ];
}

function changingCommands(bots: BotStore): CliCommand[] {
  return [
    {
      name: 'svc bot create',
      description: 'Create a chatbot and print it with its id. Settings that are left out get defaults.',
      flags: botFlag,
      run: async ({ flags }) => {
        const { id, ...settings } = settingsFrom(flags, 'create');
        if (id !== undefined)
          throw new Error('A new chatbot gets its id automatically. To change a chatbot, use svc bot update.');
        return botRecord(await bots.create(settings));
      },
    },
    {
      name: 'svc bot update',
      description: 'Change the chatbot with this "id" and print it. Settings that are left out stay.',
      flags: botFlag,
      run: async ({ flags }) => {
        const { id, ...changes } = settingsFrom(flags, 'update');
        if (id === undefined) throw new Error('Add the "id" of the chatbot to the object. See svc bot list.');
        return botRecord(await bots.update((await find(bots, id)).id, changes));
      },
    },
    {
      name: 'svc bot duplicate',
      description: 'Create an inactive chatbot with the same settings and print it.',
      args: [idArgument],
      run: async ({ args: [id] }) => botRecord(await bots.duplicate((await find(bots, id)).id)),
    },
    {
      name: 'svc bot delete',
      description: 'Delete a chatbot. Its conversations stay in the logs.',
      args: [idArgument],
      run: async ({ args: [id] }) => {
        const bot = await find(bots, id);
        if (!(await bots.delete(bot.id))) throw unknownBot(id);
        return { id: bot.id, deleted: true };
      },
    },
  ];
}

function transfers(bots: BotStore): CliCommand[] {
  return transferCommands({
    command: 'svc bot',
    descriptions: {
      export: 'Print chatbots as JSON for svc bot import, without their ids: the given ones, or all.',
      import: 'Create the chatbots of an export and print them: all of them, or none if one is invalid.',
    },
    idArgument,
    find: (id) => find(bots, id),
    list: () => bots.list(),
    exportItems: exportBots,
    importItems: (text) => importBots(text, bots),
    print: ({ id, name, status }) => ({ id, name, status }),
  });
}

async function find(bots: BotStore, id: unknown): Promise<Bot> {
  const number = /^[1-9]\d{0,9}$/.test(String(id)) ? Number(id) : Number.NaN;
  const bot = await bots.get(number);
  if (bot === null) throw unknownBot(id);
  return bot;
}

function unknownBot(id: unknown): Error {
  return new Error(`Chatbot ${String(id)} does not exist. See svc bot list.`);
}

function settingsFrom({ json }: Readonly<Record<string, unknown>>, command: string): Readonly<Record<string, unknown>> {
  if (typeof json === 'object' && json !== null)
    return Object.fromEntries(Object.entries(json).filter(([name]) => !readOnly.includes(name)));
  throw new Error(
    `Write the chatbot as JSON, for example: svc bot ${command} --json '{${command === 'update' ? '"id": 1, ' : ''}` +
      '"name": "Shop assistant", "instructions": "You help customers of a shop."}\'',
  );
}
