import type { RestRequest, User } from '#plugin-api';
import type { KnowledgePassage } from '../../kit/assistants/assistant-knowledge.ts';
import type { Bot, BotLimit } from './bots/bot.ts';
import type { FeedbackValue } from './conversations/conversation.ts';
import type { LogRow } from './conversations/log-rows.ts';
import type { PersonalRecord } from '../../kit/table-reads.ts';
import type { Person, PersonIdentity } from './conversations/personal-data.ts';
import type { PersonalCounts, ReceiptWriter } from './conversations/receipts.ts';
import type { Reply, ChatbotPrompt, ChatbotTurn } from './reply/reply.ts';
import type { RuleEvent } from './rules/rule.ts';
import type { FloodThresholds } from './widget/flood-limit.ts';

/** The sender of a message, for the filter `svc_chatbot_limit`. */
export interface LimitedVisitor {
  readonly bot: Bot;
  /** Id 0 for a guest. */
  readonly user: Pick<User, 'id' | 'displayName' | 'roles'>;
  readonly session: string;
  readonly ip: string;
}

/** The event for which a rule called a hook. */
export interface RuleCall {
  readonly event: RuleEvent;
  readonly bot: Bot;
  /** UUID. */
  readonly conversation: string;
  /** Text of the visitor's message; empty without one. */
  readonly message: string;
  readonly page_url: string;
  readonly user: Pick<User, 'id' | 'displayName' | 'roles'>;
  /** Current variables of the conversation. */
  readonly variables: Readonly<Record<string, string>>;
  /** Values of a submitted form as text, by field id. */
  readonly fields: Readonly<Record<string, string>>;
  readonly form_id: string;
  readonly error_code: string;
}

/** The response of `GET /chatbots/{bot_id}/embed-config` (contract 2.6). */
export interface EmbedResponse {
  readonly config: Readonly<Record<string, unknown>>;
  readonly html: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The limit for a visitor, null for none. Runs at every `start` and message. */
    svc_chatbot_limit: (limit: BotLimit | null, visitor: LimitedVisitor) => BotLimit | null;
    /** Configuration and markup of the widget for one page. `origin`: the page's origin, null if the request names none. */
    svc_chatbot_widget_config: (response: EmbedResponse, bot: Bot, origin: string | null) => EmbedResponse;
    /** Personal data that a plugin stores, for an export: each record becomes one line of the file. */
    svc_personal_data_export: (
      records: readonly PersonalRecord[],
      person: Person,
      identity: PersonIdentity,
    ) => readonly PersonalRecord[];
    /**
     * Deletes the personal data that a plugin stores, and adds the number of records to the receipt under the plugin's own
     * name. Runs before the conversations are deleted; may run more than once. `receipt` lists deleted media and vectors.
     */
    svc_personal_data_erase: (
      counts: PersonalCounts,
      person: Person,
      identity: PersonIdentity,
      receipt: ReceiptWriter,
    ) => PersonalCounts;
    /**
     * Rows of `GET /logs`, and of the ability `svc/search-chat-logs` over REST and MCP, before they are sent: removes rows or
     * members, or adds members. Totals stay the same.
     */
    svc_logs_rows: (rows: readonly LogRow[], request: RestRequest) => readonly LogRow[];
    /** Passages found for the latest message, best first. Runs only for bots with knowledge; empty when the store failed. */
    svc_chatbot_knowledge: (texts: readonly KnowledgePassage[], turn: ChatbotTurn) => readonly KnowledgePassage[];
    /** The request to the provider. To refuse the message, throw a RestError. */
    svc_chatbot_prompt: (prompt: ChatbotPrompt, turn: ChatbotTurn) => ChatbotPrompt;
    /** Whether the answer is streamed to the visitor. If false, nothing is shown until `svc_chatbot_reply` got the full text. */
    svc_chatbot_streams: (streams: boolean, turn: ChatbotTurn) => boolean;
    /**
     * The final text of an answer, as it is stored, sent in events and shown. Visitors have already seen text that was
     * streamed; to hide a text, return false from `svc_chatbot_streams`. Does not run for an answer that was stopped or failed.
     */
    svc_chatbot_reply: (content: string, reply: Reply, turn: ChatbotTurn) => string;
  }
  interface SyncFilterMap {
    /** Calls per minute that an address or a session may make, on each node. */
    svc_chatbot_burst_limits: (limits: FloodThresholds, bot: Bot) => FloodThresholds;
  }
  interface ActionMap {
    /** Runs after a rule of type `call_hook`, once its results are stored. `svc_chatbot_rule_<name>` gets the same call. */
    svc_chatbot_rule: (name: string, call: RuleCall) => void;
    /** An answer is ready. It is stored after the callbacks have run. */
    svc_chatbot_replied: (reply: Reply, turn: ChatbotTurn) => void;
    /** An answer failed; the caller gets this error. Also runs when the visitor stopped it (`rest_svc_request_aborted`). */
    svc_chatbot_reply_failed: (error: unknown, turn: ChatbotTurn) => void;
    /** The vector store or its embedding provider failed; the answer is generated without knowledge. */
    svc_chatbot_knowledge_failed: (error: unknown, turn: ChatbotTurn) => void;
    /** A visitor rated an answer or removed the rating. Runs in the transaction that stores it, for stored conversations only. */
    svc_chatbot_rated: (rating: ChatbotRating) => void;
    /** A chatbot was created or changed. `before`: the previous settings, null for a new bot. Runs after it is stored. */
    svc_chatbot_saved: (bot: Bot, before: Bot | null) => void;
    /** A chatbot was deleted. Its conversations stay in the logs (D14). */
    svc_chatbot_deleted: (bot: Bot) => void;
  }
}

export interface ChatbotRating {
  readonly bot: Bot;
  /** 0 for a guest. */
  readonly userId: number;
  /** UUID. */
  readonly conversation: string;
  /** Id of the answer, unique across conversations. */
  readonly messageId: string;
  readonly value: FeedbackValue;
  readonly comment: string;
  /** The message that was answered; empty when there is none before the answer. */
  readonly question: string;
  readonly answer: string;
}
