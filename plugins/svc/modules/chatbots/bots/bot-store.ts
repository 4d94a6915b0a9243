import type { HostApi } from '#plugin-api';
import { defineTransfer } from '../../../kit/read-transfer.ts';
import { createAssistantRows, settingsOf } from '../../../kit/assistants/assistant-rows.ts';
import { createAssistantStore, type FirstModel } from '../../../kit/assistants/assistant-store.ts';
import type { KnownNames } from '../../../kit/assistants/known-names.ts';
import { errors } from '../../../kit/errors.ts';
import { fillDefaults } from '#plugin-api';
import type { Bot, BotSettings, BotStore } from './bot.ts';
import { findSettingsErrors } from './bot-errors.ts';
import { botsTable } from './bots-table.ts';
import '../hooks.ts';
import { botSchema } from './schema/bot-schema.ts';

export interface BotStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks'>;
  readonly known: () => Promise<KnownNames>;
  readonly firstModel: FirstModel;
}

export const botTransfer = defineTransfer<Bot, BotSettings>(
  { format: 'svc-chatbots', version: 1, list: 'bots', noun: 'chatbots' },
  settingsOf,
);

/** Stores bots, one row each. */
export function createBotStore({ host, known, firstModel }: BotStoreParts): BotStore {
  const { database, hooks } = host;
  const store = createAssistantStore<BotSettings, never>({
    database,
    rows: createAssistantRows({ host, table: botsTable, schema: botSchema }),
    schema: botSchema,
    plural: 'bots',
    known,
    // The default model belongs to the default provider.
    withModel: async (given) => (Object.hasOwn(given, 'provider') ? given : { ...(await firstModel()), ...given }),
    findErrors: findSettingsErrors,
    notFound: (id) => errors.bot_not_found({ values: { id } }),
    saved: (bot, before) => hooks.doActionAsync('svc_chatbot_saved', bot, before),
    deleted: (bot) => hooks.doActionAsync('svc_chatbot_deleted', bot),
  });
  return {
    ...store,
    defaults: async () => ({ ...(fillDefaults(botSchema, {}) as BotSettings), ...(await firstModel()) }),
  };
}
