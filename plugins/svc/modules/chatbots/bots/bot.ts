import type { Infer } from '#plugin-api';
import type { Stored } from '../../../kit/assistants/assistant-rows.ts';
import type { AssistantStore } from '../../../kit/assistants/assistant-store.ts';
import type { BotForm } from '../forms/form.ts';
import type { Rule } from '../rules/rule.ts';
import type { botSchema } from './schema/bot-schema.ts';

type Inferred = Infer<typeof botSchema>;

export type BotLook = Inferred['look'];
export type BotTexts = Inferred['texts'];
export type BotLimits = Inferred['limits'];
export type BotLimit = BotLimits['guest'];

/** Who may show the bot (D16). */
export type BotEmbed = Inferred['embed'];

/** All settings of a bot: the content of its JSON export, its form and `svc bot create|update --json`. */
export interface BotSettings extends Omit<Inferred, 'rules' | 'forms'> {
  readonly rules: readonly Rule[];
  readonly forms: readonly BotForm[];
}

/** Times are milliseconds since the epoch. */
export type Bot = Stored<BotSettings>;

/** Some of the settings; nested objects may be partial too. */
export type BotChanges = {
  readonly [Name in keyof BotSettings]?: BotSettings[Name] extends readonly unknown[]
    ? BotSettings[Name]
    : BotSettings[Name] extends object
      ? Partial<BotSettings[Name]>
      : BotSettings[Name];
};

/** The bots of the site, stored in the database. Conversations of deleted bots stay in the logs (D14). */
export interface BotStore extends AssistantStore<BotSettings, Bot> {
  /** The default settings of a new bot. */
  defaults(): Promise<BotSettings>;
}
