/**
 * The protocol between a form and the server: internal routes of the namespace `svc-widget/v1` for the form's script and for
 * pages without JavaScript. A session token identifies visitors: the header `X-SVC-Session`, the cookie `svc_form`
 * (http-only, same site), or `token` in the body, which has to be read first; `nonce` is the header `X-SVC-Nonce` or a field.
 * On pages of this site, the session of the site identifies users.
 *
 * | route | does |
 * |---|---|
 * | `GET /forms/{id}` | FormView, for pages that may embed the form (D16) |
 * | `POST /forms/{id}/start` | starts or continues a session: StartResponse |
 * | `POST /forms/{id}/submit` | JSON, form or multipart form -> SSE of SubmitEvent, SubmitResponse as JSON, or a page, by `Accept` |
 * | `POST /forms/{id}/post` | `{submission_id}` -> PostResponse: saves a draft, for users of this site who may write posts |
 * | `GET /forms/{id}/download` | the response of an own submission as `md`, `txt` or `html`, for pages without JavaScript |
 * | `GET /form.js`, `GET /form.css` | script and styles |
 *
 * Fields of `submit`: `token`, or the `nonce` of a form that this site rendered; `submission_id` (UUID of the page, the
 * idempotency key), `page_url`, `consent`, and `values[<id>]` including files. 400 `rest_invalid_param` has a message per
 * field in `data.params`, 429 `rest_svc_form_limit_reached` a ShownLimit in `data.limit`. Closing the connection cancels
 * the submission.
 */
import type { AiForm, FormElement } from '../forms/form.ts';
import type { Generation, Source } from '../submissions/submission.ts';
import type { FormMessages } from './built-in-texts.ts';
import type { ShownLimit } from '../../../kit/visitors/limit-counters.ts';

export const formNamespace = 'svc-widget/v1';
export const sessionCookie = 'svc_form';

/** What elements of a kind accept, for the file chooser of browsers. */
export const uploadTypes = {
  file: '.txt,.md,.pdf,text/plain,text/markdown,application/pdf',
  image: 'image/png,image/jpeg,image/webp,image/gif',
} as const;

/** The public part of a form. */
export interface FormView {
  readonly id: number;
  readonly name: string;
  readonly intro: string;
  readonly elements: readonly FormElement[];
  readonly texts: AiForm['texts'];
  readonly messages: FormMessages;
  readonly result: { readonly copy: boolean; readonly download: boolean };
  readonly consent: AiForm['consent'];
}

export interface StartResponse {
  /** To send with every request, or empty if the cookie is used. */
  readonly token: string;
  /** The reached limit, or null. */
  readonly limit: ShownLimit | null;
  /** Whether the visitor may save responses as posts. */
  readonly may_save: boolean;
}

export interface SubmitResponse {
  /** UUID. */
  readonly submission_id: string;
  /** Markdown. */
  readonly response: string;
  readonly sources: readonly Source[];
  /** Of a form with fields of the response: their values by name. */
  readonly data?: Generation['data'];
  /** Why the response is not complete. Left out: it is. */
  readonly finish_reason?: NonNullable<Generation['finish']>;
}

export type SubmitEvent =
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | { readonly type: 'delta'; readonly text: string }
  | ({ readonly type: 'done' } & SubmitResponse)
  | { readonly type: 'error'; readonly code: string; readonly message: string; readonly status: number };

export interface PostResponse {
  readonly id: number;
  readonly edit_url: string;
}
