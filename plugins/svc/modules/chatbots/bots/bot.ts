import type { KnowledgeSettings } from '../../../kit/assistants/assistant-knowledge.ts';
import type { EmbedSettings } from '../../../kit/visitors/embed-settings.ts';
import type { BotForm } from '../forms/form.ts';
import type { Rule } from '../rules/rule.ts';

/** Texts of a knowledge base, or of any vector store, that go into the prompt. */
export type BotKnowledge = KnowledgeSettings;

/** How the widget looks. Colours are `#rrggbb`; empty: the theme's. */
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
  /** Address of a picture in place of the icon; empty: none. */
  readonly avatar_url: string;
  /** `rtl` for Arabic, Hebrew, Persian; `auto` follows the page. */
  readonly direction: 'auto' | 'ltr' | 'rtl';
  /** The popup opens by itself after so many seconds; 0: it waits for a click. */
  readonly open_after: number;
}

/** Every text of the widget. An empty one is not shown, or stays the built-in default where it is a label. */
export interface BotTexts {
  readonly title: string;
  readonly subtitle: string;
  readonly placeholder: string;
  readonly send: string;
  readonly stop: string;
  readonly retry: string;
  /** Makes the last answer anew. */
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
  /** Leads back to the newest message. */
  readonly latest: string;
  /** When there is more after a limit; `{time}` is filled in. */
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
  /** For a visitor who is not signed in, by session and by address. */
  readonly guest: BotLimit;
  /** For a signed-in user. */
  readonly user: BotLimit;
  /** By role; of several roles that have one the most generous counts, and it wins over `user`. */
  readonly roles: Readonly<Record<string, BotLimit>>;
  /** Shown when the limit is reached. */
  readonly message: string;
}

/** Who may show the bot (D16). */
export type BotEmbed = EmbedSettings;

/** All that is set of a bot; what its JSON export, its form and `svc bot create|update --json` hold. */
export interface BotSettings {
  /** 1 to 200 characters. */
  readonly name: string;
  /** An inactive bot answers nobody: 404 as if it were not there, for visitors and REST alike. */
  readonly status: 'active' | 'inactive';
  /** Id of a text provider. */
  readonly provider: string;
  /** Empty: the provider's saved one. */
  readonly model: string;
  /** System text; `[date]` and `[username]` are filled in (D7). */
  readonly instructions: string;
  readonly greeting: string;
  /** Questions to click on, up to 8. */
  readonly starters: readonly string[];
  /** 0 to 2; null: the global default. */
  readonly temperature: number | null;
  /** 1 to 128,000. Default 4,000. */
  readonly max_completion_tokens: number;
  /** Messages of the conversation that the model is told, the new one included; 1 to 200, default 15. */
  readonly max_messages: number;
  readonly knowledge: BotKnowledge;
  readonly look: BotLook;
  readonly texts: BotTexts;
  readonly limits: BotLimits;
  readonly consent: { readonly required: boolean; /** Plain text and links in Markdown. */ readonly text: string };
  readonly moderation: {
    /** Without regard to case and accents, whole words. */
    readonly banned_words: readonly string[];
    /** IP addresses and ranges such as `203.0.113.0/24`. */
    readonly banned_addresses: readonly string[];
    /** Shown in place of an answer. */
    readonly message: string;
  };
  readonly privacy: {
    /** Off: conversations live in the visitor's page alone and nothing of them is stored. */
    readonly keep: boolean;
    /** Days after the last message; 0: for ever. */
    readonly retention_days: number;
    /** The last part of IPv4, the last 80 bits of IPv6 are zeroed before an address is stored. Default true. */
    readonly anonymise_ip: boolean;
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

/** Some members of the settings, nested ones too. */
export type BotChanges = {
  readonly [Name in keyof BotSettings]?: BotSettings[Name] extends readonly unknown[]
    ? BotSettings[Name]
    : BotSettings[Name] extends object
      ? Partial<BotSettings[Name]>
      : BotSettings[Name];
};

/** The bots of the site, kept in the database; every node sees a change within a second. */
export interface BotStore {
  /** Null: there is no such bot. */
  get(id: number): Promise<Bot | null>;
  /** By id. */
  list(): Promise<readonly Bot[]>;
  /** Fills in the defaults. Throws RestError 400 `rest_invalid_param` that lists every bad member by its path (`embed.allowed_domains[1]`). */
  create(settings: unknown): Promise<Bot>;
  /** All of them or, where one is refused, none; paths begin with `bots[<place>]`. */
  createAll(list: readonly unknown[]): Promise<readonly Bot[]>;
  /** Nested objects are merged, lists and all else replaced (`limits.roles` too); another provider without a model takes that one's saved model. Throws RestError 404 `rest_svc_bot_not_found`, 400 as `create` does. */
  update(id: number, changes: unknown): Promise<Bot>;
  /** Another bot with the same settings, named "<name> (copy)" and inactive. */
  duplicate(id: number): Promise<Bot>;
  /** Its conversations stay in the logs (D14). Answers whether there was one. */
  delete(id: number): Promise<boolean>;
  /** Settings that the defaults of a new bot are; the form begins with them. */
  defaults(): Promise<BotSettings>;
}

/** What is set of a bot, without its id and times. */
export function withoutMetadata({
  id: _id,
  created_at: _created,
  updated_at: _updated,
  ...settings
}: Bot): BotSettings {
  return settings;
}

/** A bot as commands print it: its id first, times as ISO 8601. */
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
