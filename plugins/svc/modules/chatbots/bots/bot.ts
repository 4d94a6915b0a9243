import type { Infer } from '#plugin-api';
import type { BotForm } from '../forms/form.ts';
import type { Rule } from '../rules/rule.ts';
import type { botSchema } from './schema/bot-schema.ts';

type Inferred = Infer<typeof botSchema>;

/** Which passages of a knowledge base or vector store are added to the prompt. */
export type BotKnowledge = Inferred['knowledge'];
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

export interface Bot extends BotSettings {
  /** 1 or more, never used twice. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
}

/** Some of the settings; nested objects may be partial too. */
export type BotChanges = {
  readonly [Name in keyof BotSettings]?: BotSettings[Name] extends readonly unknown[]
    ? BotSettings[Name]
    : BotSettings[Name] extends object
      ? Partial<BotSettings[Name]>
      : BotSettings[Name];
};

/** The bots of the site, stored in the database. Every node sees a change within a second. */
export interface BotStore {
  /** Returns null if the bot does not exist. */
  get(id: number): Promise<Bot | null>;
  /** Sorted by id. */
  list(): Promise<readonly Bot[]>;
  /**
   * Fills in the defaults. Throws RestError 400 `rest_invalid_param` with every invalid member by its path
   * (`embed.allowed_domains[1]`).
   */
  create(settings: unknown): Promise<Bot>;
  /** Creates all of them, or none if one is invalid. Paths of errors start with `bots[<index>]`. */
  createAll(list: readonly unknown[]): Promise<readonly Bot[]>;
  /**
   * Merges nested objects; replaces lists and all other values (`limits.roles` too). A new provider without a model uses
   * its default model. Throws RestError 404 `rest_svc_bot_not_found`, or 400 like `create`.
   */
  update(id: number, changes: unknown): Promise<Bot>;
  /** Creates an inactive bot with the same settings, named "<name> (copy)". */
  duplicate(id: number): Promise<Bot>;
  /** Conversations stay in the logs (D14). Returns whether the bot existed. */
  delete(id: number): Promise<boolean>;
  /** The default settings of a new bot. */
  defaults(): Promise<BotSettings>;
}

/** The settings of a bot, without its id and times. */
export function withoutMetadata({
  id: _id,
  created_at: _created,
  updated_at: _updated,
  ...settings
}: Bot): BotSettings {
  return settings;
}

/** A bot as commands print it: id first, times as ISO 8601. */
export function botRecord(bot: Bot): Record<string, unknown> {
  return {
    id: bot.id,
    ...withoutMetadata(bot),
    created_at: isoTime(bot.created_at),
    updated_at: isoTime(bot.updated_at),
  };
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
