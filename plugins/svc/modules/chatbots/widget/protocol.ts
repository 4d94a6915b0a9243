/**
 * What the widget and the server say to each other: the routes of the namespace `svc-widget/v1`, made for the widget and
 * changed with it. All bodies are JSON. Visitors are known by a session token: `token` in the body, or the cookie
 * `svc_chat` (http-only, same site); signed-in users of the host by their session as well. Errors are the host's (contract 7).
 *
 * | route | does |
 * |---|---|
 * | `POST /bots/{bot_id}/start` | StartRequest -> StartResponse |
 * | `POST /bots/{bot_id}/messages` | SendRequest -> SSE of SendEvent, or SendResponse where `Accept` names no `text/event-stream` |
 * | `POST /bots/{bot_id}/stop` | StopRequest -> `{stopped: boolean}`; what was written so far is kept |
 * | `POST /bots/{bot_id}/feedback` | FeedbackRequest -> FeedbackResponse |
 * | `POST /bots/{bot_id}/forms/{form_id}` | FormRequest -> FormResponse; 400 `rest_invalid_param` with a sentence for each bad field in `data.params` |
 * | `GET /widget.js`, `GET /widget.css` | the script and its styles |
 *
 * A message that is refused before it is accepted (a limit, consent, a banned word, a session that has ended) is an error
 * answer with its status, as JSON, with or without a stream; `rest_svc_chat_limit_reached` carries `data.limit`, a WidgetLimit.
 * After 403 `rest_svc_session_invalid` the page starts again without its token.
 * Every event of an SSE answer is `event: <type>`, `data: <JSON of the rest>`. A line `: ` comes at least every 15 s.
 * A connection that breaks stops nothing: the answer is finished and stored, and sending the same `message_id` again
 * gives it (or the rest of the stream, or a new try where the last one failed).
 */
import type { BotForm } from '../forms/form.ts';
import type { BotLook, BotTexts } from '../bots/bot.ts';
import type { FeedbackValue, Source } from '../conversations/conversation.ts';

export const widgetNamespace = 'svc-widget/v1';
export const sessionCookie = 'svc_chat';

/** Of a bot what its visitors may know. Part of `config` of embed-config (contract 2.6) as well. */
export interface WidgetBot {
  readonly id: number;
  readonly name: string;
  readonly greeting: string;
  readonly starters: readonly string[];
  readonly look: BotLook;
  readonly texts: BotTexts;
  readonly consent: { readonly required: boolean; readonly text: string };
  readonly feedback: boolean;
  /** Conversations are stored and come back after a reload. */
  readonly keeps: boolean;
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
}

export interface WidgetConversation {
  readonly id: string;
  readonly messages: readonly WidgetMessage[];
}

export interface StartRequest {
  readonly token?: string;
  /** The conversation to go on with; left out: the latest one of this visitor. */
  readonly conversation?: string;
  /** Begin anew: answers no conversation. */
  readonly new?: boolean;
  readonly page_url?: string;
}

export interface StartResponse {
  /** To be kept by the page and sent with every request; empty where the cookie does it. */
  readonly token: string;
  readonly bot: WidgetBot;
  /** Null: none yet. One of somebody else is never given: it is as if it were not there. */
  readonly conversation: WidgetConversation | null;
  readonly user: { readonly signed_in: boolean; readonly name: string };
  /** The visitor has consented before. */
  readonly consented: boolean;
  /** Shown in place of the field when the limit is used up; null: it is not. */
  readonly limit: WidgetLimit | null;
}

export interface WidgetLimit {
  readonly message: string;
  /** ISO 8601: when there is more. */
  readonly until: string;
}

export interface SendRequest {
  readonly token?: string;
  /** Null or left out: the first message of a new conversation. */
  readonly conversation?: string | null;
  /** UUID made by the page. The same again is the same message. */
  readonly message_id: string;
  /** 1 to 32,000 characters. */
  readonly text: string;
  readonly page_url?: string;
  /** Needed on the first message where the bot asks for consent. */
  readonly consent?: boolean;
  /** Make the answer to this message, the last one, anew. */
  readonly regenerate?: boolean;
  /** With `regenerate`: id of the answer there is. Where another one has taken its place already, that one is given: the wish counts once however often it is sent. */
  readonly replaces?: string;
  /** Where nothing is kept: the conversation so far, by the page. Otherwise it is not looked at. */
  readonly history?: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
}

export type SendEvent =
  /** Stored: from here on the message counts. */
  | { readonly type: 'accepted'; readonly conversation: string; readonly message_id: string }
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | { readonly type: 'delta'; readonly text: string }
  | {
      readonly type: 'done';
      readonly message: WidgetMessage;
      readonly form: BotForm | null;
      readonly limit: WidgetLimit | null;
    }
  /** The message was refused or failed; `code`, `message` and `status` as in an error body. `retry`: sending it again may help. */
  | {
      readonly type: 'error';
      readonly code: string;
      readonly message: string;
      readonly status: number;
      readonly retry: boolean;
    };

/** The same without a stream. Failures are error answers there. */
export interface SendResponse {
  readonly conversation: string;
  readonly message: WidgetMessage;
  readonly form: BotForm | null;
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
  /** Of the answer. */
  readonly message_id: string;
  readonly value: FeedbackValue;
  /** Up to 2,000 characters. */
  readonly comment?: string;
}

export interface FeedbackResponse {
  readonly value: FeedbackValue;
  readonly comment: string;
}

export interface FormRequest {
  readonly token?: string;
  readonly conversation: string;
  /** UUID made by the page. The same again is the same submission. */
  readonly submission_id: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly page_url?: string;
  readonly page_id?: number;
}

export interface FormResponse {
  /** What to show in place of the form. */
  readonly thanks: string;
  /** MessageText by rules on submission; null: nothing. */
  readonly message: WidgetMessage | null;
  readonly form: BotForm | null;
}
