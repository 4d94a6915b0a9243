import type { KnowledgeSettings } from '../../../kit/assistants/assistant-knowledge.ts';
import type { EmbedSettings } from '../../../kit/visitors/embed-settings.ts';
import type { BotForm } from '../forms/form.ts';
import type { Rule } from '../rules/rule.ts';

/** Which passages of a knowledge base or vector store are added to the prompt. */
export type BotKnowledge = KnowledgeSettings;

/** How the widget looks. Colors are `#rrggbb`, or empty for the color of the theme. */
export interface BotLook {
  readonly theme: 'light' | 'dark' | 'auto';
  readonly primary_color: string;
  readonly text_color: string;
  readonly background_color: string;
  readonly user_bubble_color: string;
  readonly bot_bubble_color: string;
  /** Pixels, 0 to 32. */
  readonly corner_radius: number;
  readonly mode: 'popup' | 'inline' | 'page';
  /** Of the popup. */
  readonly position: 'bottom-right' | 'bottom-left' | 'top-right' | 'top-left';
  readonly size: 'small' | 'medium' | 'large';
  /** Name of a built-in icon. */
  readonly icon: 'chat' | 'robot' | 'spark' | 'help' | 'heart';
  /** URL of a picture that replaces the icon, or an empty text. */
  readonly avatar_url: string;
  /** `rtl` for Arabic, Hebrew, Persian; `auto` follows the page. */
  readonly direction: 'auto' | 'ltr' | 'rtl';
  /** Seconds until the popup opens automatically. 0: only on click. */
  readonly open_after: number;
}

/** Every text of the widget. An empty label shows the built-in one; other empty texts are not shown. */
export interface BotTexts {
  readonly title: string;
  readonly subtitle: string;
  readonly placeholder: string;
  readonly send: string;
  readonly stop: string;
  readonly retry: string;
  /** Generates the last answer again. */
  readonly regenerate: string;
  readonly copy: string;
  readonly copied: string;
  readonly new_chat: string;
  readonly download: string;
  readonly open: string;
  readonly close: string;
  readonly good: string;
  readonly bad: string;
  readonly comment: string;
  readonly thanks: string;
  readonly sources: string;
  readonly typing: string;
  /** The visitor's name in transcripts and for screen readers. */
  readonly you: string;
  /** Scrolls to the newest message. */
  readonly latest: string;
  /** When the limit resets; `{time}` is replaced. */
  readonly again: string;
  readonly offline: string;
  readonly error: string;
  readonly consent_button: string;
  readonly submit: string;
  readonly required: string;
  /** Small print below the field. */
  readonly footer: string;
}

export interface BotLimit {
  /** 0: no limit. */
  readonly amount: number;
  readonly unit: 'messages' | 'tokens';
  /** By the site's time zone; weeks begin on Monday. */
  readonly per: 'day' | 'week' | 'month';
}

export interface BotLimits {
  /**
   * When false, only signed-in users of this site may chat: guests read `guest_message`. Default true. Pages of other
   * sites never recognize users.
   */
  readonly allow_guests: boolean;
  readonly guest_message: string;
  /** For a visitor who is not signed in, counted by session and by IP address. New bots allow 50 messages a day. */
  readonly guest: BotLimit;
  /** For a signed-in user. */
  readonly user: BotLimit;
  /** By role. If several roles have a limit, the highest one applies. It overrides `user`. */
  readonly roles: Readonly<Record<string, BotLimit>>;
  /** Shown when the limit is reached. */
  readonly message: string;
}

/** Who may show the bot (D16). */
export type BotEmbed = EmbedSettings;

/** All settings of a bot: the content of its JSON export, its form and `svc bot create|update --json`. */
export interface BotSettings {
  /** 1 to 200 characters. */
  readonly name: string;
  /** An inactive bot is treated as missing (404), for visitors and REST calls. */
  readonly status: 'active' | 'inactive';
  /** Id of a text provider. */
  readonly provider: string;
  /** An empty text uses the provider's default model. */
  readonly model: string;
  /** System text. `[date]` and `[username]` are replaced (D7). */
  readonly instructions: string;
  readonly greeting: string;
  /** Questions to click on, up to 8. */
  readonly starters: readonly string[];
  /** 0 to 2; null: the global default. */
  readonly temperature: number | null;
  /** 1 to 128,000. Default 4,000. */
  readonly max_completion_tokens: number;
  /** Recent messages sent to the model, including the new one; 1 to 200, default 15. */
  readonly max_messages: number;
  /** Characters of messages sent to the model; the oldest are left out. 1,000 to 1,000,000, default 32,000. */
  readonly max_prompt_characters: number;
  readonly knowledge: BotKnowledge;
  readonly look: BotLook;
  readonly texts: BotTexts;
  readonly limits: BotLimits;
  readonly consent: { readonly required: boolean; /** Plain text and links in Markdown. */ readonly text: string };
  readonly moderation: {
    /** Whole words. Case and accents do not matter. */
    readonly banned_words: readonly string[];
    /** IP addresses and ranges such as `203.0.113.0/24`. */
    readonly banned_addresses: readonly string[];
    /** Shown instead of an answer. */
    readonly message: string;
  };
  readonly privacy: {
    /** When false, conversations exist only in the visitor's page and are not stored. */
    readonly keep: boolean;
    /** Days after the last message until a conversation is deleted; 0: never. */
    readonly retention_days: number;
    /** Replaces the last part of IPv4 and the last 80 bits of IPv6 by zeros before an address is stored. Default true. */
    readonly anonymise_ip: boolean;
    /** Origins besides the site's own whose images are shown in answers, such as `https://cdn.example.com`. */
    readonly image_origins: readonly string[];
  };
  /** Visitors may rate answers. */
  readonly feedback: boolean;
  readonly embed: BotEmbed;
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
