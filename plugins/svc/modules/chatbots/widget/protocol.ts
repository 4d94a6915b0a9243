/**
 * The protocol between the widget and the server: the routes of the namespace `svc-widget/v1`. All bodies are JSON.
 * A session token identifies a visitor: the header `X-SVC-Session`, the cookie `svc_chat` (http-only, same site), or `token` in
 * the body, which has to be read first. Signed-in users of the host are also identified by their session. Errors have the
 * host's format (contract 7).
 *
 * | route | request and response |
 * |---|---|
 * | `POST /bots/{bot_id}/start` | StartRequest -> StartResponse |
 * | `POST /bots/{bot_id}/messages` | SendRequest -> SSE of SendEvent, or SendResponse where `Accept` names no `text/event-stream` |
 * | `POST /bots/{bot_id}/stop` | StopRequest -> `{stopped: boolean}`; the text so far is kept |
 * | `POST /bots/{bot_id}/feedback` | FeedbackRequest -> FeedbackResponse |
 * | `POST /bots/{bot_id}/solved` | SolvedRequest -> `{solved: boolean}`; stored as the variable `solved`, `yes` or `no` |
 * | `POST /bots/{bot_id}/forms/{form_id}` | FormRequest -> FormResponse; 400 `rest_invalid_param` with `data.params` by field |
 * | `GET /widget.js`, `GET /widget.css` | the button and its styles |
 * | `GET /chat.js`, `GET /chat.css` | the window, loaded when it is opened |
 *
 * A refused message (a limit, consent, a banned word, an expired session) gets an error response with its status, as JSON,
 * with or without a stream. `rest_svc_chat_limit_reached` and
 * `rest_svc_guests_not_allowed` carry `data.limit`, a WidgetLimit.
 * After 403 `rest_svc_session_invalid` the page calls `start` again without its token.
 * Every server-sent event is `event: <type>`, `data: <JSON of the rest>`. A line `: ` is sent at least every 15 s.
 * A broken connection does not stop the answer: it is completed and stored. Sending the same `message_id` again returns
 * the answer, follows its stream, or retries it after a failure.
 */
import type { VisibleForm } from '../forms/form.ts';
import type { BotLook, BotTexts } from '../bots/bot.ts';
import type { FeedbackValue, Source } from '../conversations/conversation.ts';

export const widgetNamespace = 'svc-widget/v1';
export const sessionCookie = 'svc_chat';

/** The part of a bot that visitors may see. Also part of `config` of embed-config (contract 2.6). */
export interface WidgetBot {
  readonly id: number;
  readonly name: string;
  readonly greeting: string;
  readonly starters: readonly string[];
  readonly look: BotLook;
  readonly texts: BotTexts;
  readonly consent: { readonly required: boolean; readonly text: string };
  readonly feedback: boolean;
  /** Visitors are asked whether their question was solved. */
  readonly ask_solved: boolean;
  /** Conversations are stored and shown again after a reload. */
  readonly keeps: boolean;
  /** Origins whose images are shown in answers: the site's own, and those of the bot's settings. */
  readonly image_origins: readonly string[];
}

export interface WidgetMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly sources: readonly Source[];
  readonly is_partial: boolean;
  readonly feedback: FeedbackValue;
  /** Answers that the bot does not store: proves in `history` that the text came from the server. */
  readonly signature?: string;
}

export interface WidgetConversation {
  readonly id: string;
  /** What the visitor said; null: nothing yet. */
  readonly solved: boolean | null;
  readonly messages: readonly WidgetMessage[];
}

export interface StartRequest {
  readonly token?: string;
  /** The conversation to continue. Default: the latest of this visitor. */
  readonly conversation?: string;
  /** Start a new conversation: the response contains none. */
  readonly new?: boolean;
  readonly page_url?: string;
}

export interface StartResponse {
  /** The page stores it and sends it with every request. Empty when the cookie carries the session. */
  readonly token: string;
  readonly bot: WidgetBot;
  /** Null when there is none yet. Another visitor's conversation is treated as missing. */
  readonly conversation: WidgetConversation | null;
  /** `is_admin`: may manage the site, and sees how well sources match. */
  readonly user: { readonly signed_in: boolean; readonly name: string; readonly is_admin: boolean };
  /** The visitor has already consented. */
  readonly consented: boolean;
  /** Shown instead of the input when the limit is used up; else null. */
  readonly limit: WidgetLimit | null;
}

export interface WidgetLimit {
  readonly message: string;
  /** ISO 8601: when the limit resets. Null: never, because guests may not chat. */
  readonly until: string | null;
}

export interface HistoryMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Of an answer, as it came from the server. */
  readonly signature?: string;
}

export interface SendRequest {
  readonly token?: string;
  /** Null or omitted for the first message of a new conversation. */
  readonly conversation?: string | null;
  /** UUID created by the page. The same id is the same message. */
  readonly message_id: string;
  /** 1 to 32,000 characters. */
  readonly text: string;
  readonly page_url?: string;
  /** Required with the first message if the bot asks for consent. */
  readonly consent?: boolean;
  /** Regenerate the answer to this message, which must be the last. */
  readonly regenerate?: boolean;
  /** With `regenerate`: id of the current answer. If it was already regenerated, the newer one is returned; the request is idempotent. */
  readonly replaces?: string;
  /**
   * The conversation so far, if the bot does not store conversations; ignored otherwise. Answers without their signature
   * are left out of the prompt.
   */
  readonly history?: readonly HistoryMessage[];
}

export type SendEvent =
  /** The message is stored and counts from here on. */
  | { readonly type: 'accepted'; readonly conversation: string; readonly message_id: string }
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | { readonly type: 'delta'; readonly text: string }
  | {
      readonly type: 'done';
      readonly message: WidgetMessage;
      readonly form: VisibleForm | null;
      readonly limit: WidgetLimit | null;
    }
  /** The message failed; `code`, `message` and `status` as in an error body. `retry`: sending it again may help. */
  | {
      readonly type: 'error';
      readonly code: string;
      readonly message: string;
      readonly status: number;
      readonly retry: boolean;
    };

/** The same without a stream. Failures are error responses. */
export interface SendResponse {
  readonly conversation: string;
  readonly message: WidgetMessage;
  readonly form: VisibleForm | null;
  readonly limit: WidgetLimit | null;
}

export interface StopRequest {
  readonly token?: string;
  readonly conversation: string;
  readonly message_id: string;
}

export interface FeedbackRequest {
  readonly token?: string;
  readonly conversation: string;
  /** Id of the answer. */
  readonly message_id: string;
  readonly value: FeedbackValue;
  /** Up to 2,000 characters. */
  readonly comment?: string;
}

export interface FeedbackResponse {
  readonly value: FeedbackValue;
  readonly comment: string;
}

export interface SolvedRequest {
  readonly token?: string;
  readonly conversation: string;
  readonly solved: boolean;
}

export interface FormRequest {
  readonly token?: string;
  readonly conversation: string;
  /** UUID created by the page. The same id is the same submission. */
  readonly submission_id: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly page_url?: string;
  /** Up to 500 characters. */
  readonly page_title?: string;
  readonly page_id?: number;
}

export interface FormResponse {
  /** Shown instead of the form. */
  readonly thanks: string;
  /** MessageText by rules on submission; null: nothing. */
  readonly message: WidgetMessage | null;
  readonly form: VisibleForm | null;
}
