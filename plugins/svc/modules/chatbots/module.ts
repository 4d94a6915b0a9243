import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';
import { botsMigration, botsTable } from './bots/bots-table.ts';
import './hooks.ts';

/** Chatbots: what they are set to, their conversations, and the widget that visitors meet them in. */
export const chatbotsModule = defineModule<ServiceContext>({
  id: 'chatbots',
  title: 'Chatbots',
  migrations: [botsMigration],
});

/** Removed when the plugin is uninstalled. */
export const chatbotTables: readonly string[] = [botsTable];
