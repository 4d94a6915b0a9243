/**
 * What a form in a page and the server say to each other: routes of the namespace `svc-widget/v1`, made for the form's own
 * script and for pages without it, and changed with them. Visitors are known by a session token: `token` in the body, or
 * the cookie `svc_form` (http-only, same site); users of the site by its session as well, on its own pages.
 *
 * | route | does |
 * |---|---|
 * | `GET /forms/{id}` | FormView, for the pages that may show the form (D16) |
 * | `POST /forms/{id}/start` | begins or goes on with a session: StartAnswer |
 * | `POST /forms/{id}/submit` | the fields as JSON, as a form, or as a form with files -> SSE of SubmitEvent, SubmitAnswer as JSON, or a page, by `Accept` |
 * | `POST /forms/{id}/post` | `{submission_id}` -> PostAnswer: the answer becomes a draft, for users who may write posts, on the site itself |
 * | `GET /forms/{id}/download` | the answer of a submission of one's own as `md`, `txt` or `html`, for pages without script |
 * | `GET /form.js`, `GET /form.css` | script and styles |
 *
 * Fields of `submit`: `token`, or `nonce` of a form that the site itself wrote; `submission_id` (UUID made by the page: the
 * same again is the same submission), `page_url`, `consent`, and `values[<id>]`, files among them. A refusal is an error
 * answer with its status; 400 `rest_invalid_param` has a sentence for each bad field in `data.params`, 429
 * `rest_svc_form_limit_reached` a ShownLimit in `data.limit`. Whoever hangs up ends the answer under way.
 */
import type { AiForm, FormElement } from '../forms/form.ts';
import type { Source } from '../submissions/submission.ts';
import type { ShownLimit } from '../submit/form-limits.ts';

export const formNamespace = 'svc-widget/v1';
export const sessionCookie = 'svc_form';

/** Of a form what its visitors may know. */
export interface FormView {
  readonly id: number;
  readonly name: string;
  readonly intro: string;
  readonly elements: readonly FormElement[];
  readonly texts: AiForm['texts'];
  readonly result: { readonly copy: boolean; readonly download: boolean };
  readonly consent: AiForm['consent'];
}

export interface StartAnswer {
  /** To be kept by the page and sent with every request; empty where the cookie does it. */
  readonly token: string;
  /** Shown when the limit is used up; null: it is not. */
  readonly limit: ShownLimit | null;
  /** The visitor may save answers as posts. */
  readonly may_save: boolean;
}

export interface SubmitAnswer {
  /** UUID. */
  readonly submission_id: string;
  /** Markdown. */
  readonly response: string;
  readonly sources: readonly Source[];
}

export type SubmitEvent =
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | { readonly type: 'delta'; readonly text: string }
  | ({ readonly type: 'done' } & SubmitAnswer)
  | { readonly type: 'error'; readonly code: string; readonly message: string; readonly status: number };

export interface PostAnswer {
  readonly id: number;
  readonly edit_url: string;
}
