import type { RestRequest, User } from '#plugin-api';
import type { KnowledgePassage } from '../../kit/assistants/assistant-knowledge.ts';
import type { Bot, BotLimit } from './bots/bot.ts';
import type { FeedbackValue } from './conversations/conversation.ts';
import type { LogRow } from './conversations/log-rows.ts';
import type { Person, PersonalCounts, PersonIdentity } from './conversations/personal-data.ts';
import type { Reply, ChatbotPrompt, ChatbotTurn } from './reply/reply.ts';
import type { RuleEvent } from './rules/rule.ts';
import type { FloodThresholds } from './widget/flood-limit.ts';

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
export interface EmbedResponse {
  readonly config: Readonly<Record<string, unknown>>;
  readonly html: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The limit that counts for a visitor, as the bot is set; null: none. Asked at every start and message. */
    svc_chatbot_limit: (limit: BotLimit | null, visitor: LimitedVisitor) => BotLimit | null;
    /** How often an address or a session may call within a minute, on each node. */
    svc_chatbot_burst_limits: (limits: FloodThresholds, bot: Bot) => FloodThresholds;
    /** Configuration and markup of the widget for one page. `origin`: the page's, null where none is named. */
    svc_chatbot_widget_config: (answer: EmbedResponse, bot: Bot, origin: string | null) => EmbedResponse;
  }
  interface ActionMap {
    /** After a rule of type `call_hook`, stored with what it belongs to. Besides, `svc_chatbot_rule_<name>` runs with the same call. */
    svc_chatbot_rule: (name: string, call: RuleCall) => void;
  }
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Data of a person that a plugin holds, for an export: `{type, data}`, one a line of the file. */
    svc_personal_data_export: (
      records: readonly PersonalRecord[],
      person: Person,
      identity: PersonIdentity,
    ) => readonly PersonalRecord[];
    /** Deletes what a plugin holds of a person, and adds how much it was, under a name of its own, to the receipt. Runs after the conversations went; may run again. */
    svc_personal_data_erase: (counts: PersonalCounts, person: Person, identity: PersonIdentity) => PersonalCounts;
    /** Rows of `GET /logs` before they are answered: takes out what callers need not see, or adds members of its own. Totals stay. */
    svc_logs_rows: (rows: readonly LogRow[], request: RestRequest) => readonly LogRow[];
    /** Texts that were found for the latest message, best first; adds, drops or changes some. Runs for bots with knowledge alone, with no texts where the store failed. */
    svc_chatbot_knowledge: (texts: readonly KnowledgePassage[], turn: ChatbotTurn) => readonly KnowledgePassage[];
    /** What goes to the provider: provider, model, parameters, instructions, contexts, knowledge, messages. Refuses the message by throwing a RestError. */
    svc_chatbot_prompt: (prompt: ChatbotPrompt, turn: ChatbotTurn) => ChatbotPrompt;
    /** Whether the visitor sees the answer while it is made. False: nothing is shown before `svc_chatbot_reply` had the whole text. */
    svc_chatbot_streams: (streams: boolean, turn: ChatbotTurn) => boolean;
    /**
     * The text of an answer, as it is stored, sent in events and shown in the end. What was streamed has been seen: there it
     * can replace the text on the page, but not make it unseen. To keep a text from visitors answer false to
     * `svc_chatbot_streams`. Not run for an answer that was stopped or broke off half-way.
     */
    svc_chatbot_reply: (content: string, reply: Reply, turn: ChatbotTurn) => string;
  }
  interface ActionMap {
    /** An answer is ready. It is not stored yet, and waits for the callbacks. */
    svc_chatbot_replied: (reply: Reply, turn: ChatbotTurn) => void;
    /** No answer could be made; the error is what the caller gets. Also when the visitor stopped it (`rest_svc_request_aborted`). */
    svc_chatbot_reply_failed: (error: unknown, turn: ChatbotTurn) => void;
    /** The vector store or its embedding provider failed; the answer is made without. */
    svc_chatbot_knowledge_failed: (error: unknown, turn: ChatbotTurn) => void;
    /** A visitor rated an answer, or took the rating back. Runs in the transaction that stores it; not for conversations that are not kept. */
    svc_chatbot_rated: (rating: ChatbotRating) => void;
    /** A chatbot was made or changed; second argument: as it was before, null for a new one. Runs after it is stored. */
    svc_chatbot_saved: (bot: Bot, before: Bot | null) => void;
    /** A chatbot was deleted. Its conversations stay in the logs (D14). */
    svc_chatbot_deleted: (bot: Bot) => void;
  }
}

export interface ChatbotRating {
  readonly bot: Bot;
  /** 0: a guest. */
  readonly userId: number;
  /** UUID. */
  readonly conversation: string;
  /** Of the answer, and unlike that of every other. */
  readonly messageId: string;
  readonly value: FeedbackValue;
  readonly comment: string;
  /** What the answer is to; empty: nothing was asked before it. */
  readonly question: string;
  readonly answer: string;
}

/** A line of an export of a person's data. */
export interface PersonalRecord {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}
