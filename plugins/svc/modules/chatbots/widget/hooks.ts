import type { User } from '#plugin-api';
import type { Bot, BotLimit } from '../bots/bot.ts';
import type { RuleEvent } from '../rules/rule.ts';
import type { BurstLimits } from './burst.ts';

/** Who sends, for the filter `svc_chatbot_limit`. */
export interface LimitedVisitor {
  readonly bot: Bot;
  /** Id 0: a guest. */
  readonly user: Pick<User, 'id' | 'displayName' | 'roles'>;
  readonly session: string;
  readonly ip: string;
}

/** What happened when a rule called a hook. */
export interface RuleCall {
  readonly event: RuleEvent;
  readonly bot: Bot;
  /** UUID. */
  readonly conversation: string;
  /** Text of the visitor's message; empty where there is none. */
  readonly message: string;
  readonly page_url: string;
  readonly user: Pick<User, 'id' | 'displayName' | 'roles'>;
  /** Variables of the conversation as they are then. */
  readonly variables: Readonly<Record<string, string>>;
  /** Of a submitted form, by id: what was filled in, as a text. */
  readonly fields: Readonly<Record<string, string>>;
  readonly form_id: string;
  readonly error_code: string;
}

/** The answer of `GET /chatbots/{bot_id}/embed-config` (contract 2.6). */
export interface EmbedAnswer {
  readonly config: Readonly<Record<string, unknown>>;
  readonly html: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The limit that counts for a visitor, as the bot is set; null: none. Asked at every start and message. */
    svc_chatbot_limit: (limit: BotLimit | null, visitor: LimitedVisitor) => BotLimit | null;
    /** How often an address or a session may call within a minute, on each node. */
    svc_chatbot_burst_limits: (limits: BurstLimits, bot: Bot) => BurstLimits;
    /** Configuration and markup of the widget for one page. `origin`: the page's, null where none is named. */
    svc_chatbot_widget_config: (answer: EmbedAnswer, bot: Bot, origin: string | null) => EmbedAnswer;
  }
  interface ActionMap {
    /** After a rule of type `call_hook`, stored with what it belongs to. Besides, `svc_chatbot_rule_<name>` runs with the same call. */
    svc_chatbot_rule: (name: string, call: RuleCall) => void;
  }
}
