import type { AiForms } from '../ai-forms.ts';
import { createHash } from 'node:crypto';
import { clientNetwork, RestError, RestResponse, translateText, type RestRequest, type User } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { visitorFailure, type VisitorFailure } from '../../../kit/visitor-failure.ts';
import { namedOrigin } from '../../../kit/visitors/origin.ts';
import { nonceHeader, sentSession } from '../../../kit/visitors/page-sessions.ts';
import { translateError } from '../../../kit/visitors/translate-errors.ts';
import type { FormBurstLimits } from '../hooks.ts';
import type { Submission } from '../submissions/submission.ts';
import { reserveResponse } from '../submit/form-limits.ts';
import { invalidValues, readValues } from '../submit/read-values.ts';
import { responsePage, refusalPage } from './response-page.ts';
import { createDownload } from './export-response.ts';
import { formView } from './markup.ts';
import { consentError } from './markup.ts';
import type { StartResponse } from './protocol.ts';
import { readBody, type SubmissionBody } from './read-body.ts';
import { maySavePosts, savePost } from './export-response.ts';
import { submitResponseOf, streamResponse, type Watchers } from './stream-response.ts';
import type { Caller, Welcome } from './visitor.ts';
import type { AiForm } from '../forms/form.ts';
import type { RouteHandlers } from '../../../kit/route.ts';

/** Errors that visitors see. */
const forVisitors = new Set([
  'rest_invalid_param',
  'rest_svc_ai_form_not_found',
  'rest_svc_ai_form_not_available',
  'rest_svc_form_origin_not_allowed',
  'rest_svc_form_expired',
  'rest_svc_form_limit_reached',
  'rest_svc_rate_limited',
  'rest_svc_submission_running',
  'rest_svc_submission_not_kept',
  'rest_svc_submission_not_found',
  'rest_body_too_large',
  'rest_upload_unreadable',
]);

const failureMessages: Readonly<Record<Exclude<VisitorFailure, 'failed'>, string>> = {
  declined: 'This input is not answered. Change what you entered, then submit it again.',
  too_long: 'This input is too long. Shorten what you entered, then submit it again.',
  busy: 'This form is busy. Submit it again in a minute.',
  unavailable: 'This form is not available right now.',
};

/**
 * Other failures: visitors see what they can do, or the error message of the form; administrators the reason. A used-up budget
 * is no limit of the visitor.
 */
function visitorErrorFor(
  error: unknown,
  { form, user }: { readonly form: Pick<AiForm, 'texts'>; readonly user: Pick<User, 'can'> },
): RestError {
  if (error instanceof RestError && (forVisitors.has(error.code) || user.can('manage_options'))) return error;
  const failure = visitorFailure(error);
  if (failure === 'failed') return errors.form_failed({ values: { reason: form.texts.error } });
  const values = { reason: translateText(failureMessages[failure]) };
  if (failure === 'declined' || failure === 'too_long') return errors.form_declined({ values });
  // Callers that are refused for a time learn how long.
  return errors.form_failed({ values, ...(error instanceof RestError && { headers: error.headers }) });
}

/** Handlers of the form routes, loaded at the first call. */
export interface FormHandlers extends RouteHandlers<'view' | 'start' | 'submit' | 'post' | 'download'> {
  /**
   * Before a large body is read: the form, the page and the rate. The session comes later, because it may be in the body.
   *
   * @throws RestError 404 `rest_svc_ai_form_not_available`, 403 `rest_svc_form_origin_not_allowed`, 429 `rest_svc_rate_limited`
   */
  maySubmit(request: RestRequest): Promise<undefined>;
  /** Whether pages of an origin may use a form (D16). */
  allows(origin: string, formId: number): Promise<boolean>;
}

/** Per minute and node, against requestCounts. */
const burstLimits: FormBurstLimits = { starts_per_address: 120, submits_per_address: 60 };
const noStore = { 'Cache-Control': 'no-store' };

export function createHandlers(parts: AiForms): FormHandlers {
  const { host } = parts;
  const { visitors, requestCounts, limits, submissions } = parts;
  /** Requests whose submission is counted: a large one before its body, all others after. */
  const counted = new WeakSet<RestRequest>();
  const countSubmission = (request: RestRequest, { form }: Caller): void => {
    if (counted.has(request)) return;
    counted.add(request);
    requestCounts.count(
      `submits ${clientNetwork(request.ip)}`,
      host.hooks.applyFilters('svc_form_burst_limits', burstLimits, form).submits_per_address,
    );
  };
  const tokenOf = ({ params }: RestRequest): string => (typeof params['token'] === 'string' ? params['token'] : '');

  return {
    allows: (origin, formId) => visitors.allows(namedOrigin(origin, host.site.url), formId),
    async view(request) {
      const { form, origin } = await visitors.enter(request, '');
      // The response depends on the page, so shared caches must not store it.
      return new RestResponse({
        body: await host.hooks.applyFiltersAsync('svc_form_config', formView(form, host), form, origin.origin),
        headers: { 'Cache-Control': 'private, no-cache', Vary: 'Referer' },
      });
    },
    async start(request) {
      const caller = await visitors.enter(request, tokenOf(request));
      requestCounts.count(
        `starts ${clientNetwork(request.ip)}`,
        host.hooks.applyFilters('svc_form_burst_limits', burstLimits, caller.form).starts_per_address,
      );
      const { visitor, token, headers } = await visitors.welcome(caller);
      const { form, user } = visitor;
      const body: StartResponse = {
        token,
        limit: await limits.usedUp(await limits.of(visitor), form.limits),
        may_save: maySavePosts(form, user),
      };
      return new RestResponse({ body, headers: { ...noStore, ...headers } });
    },
    async maySubmit(request) {
      const caller = await visitors.enter(request, '');
      const nonce = request.headers[nonceHeader];
      // Otherwise they are in the body: forms without JavaScript can send no header.
      if (sentSession(request) !== '' || nonce !== undefined) await requireVisitor(parts, caller, nonce ?? '');
      countSubmission(request, caller);
      return undefined;
    },
    async submit(request) {
      const body = await readBody(request);
      const caller = await visitors.enter(request, body.token);
      countSubmission(request, caller);
      return submitBody(parts, { request, body, caller });
    },
    async post(request) {
      const caller = await visitors.enter(request, tokenOf(request));
      if (!caller.origin.isOwn) throw errors.form_origin_not_allowed();
      const submission = await ownSubmission({ submissions }, caller, request.params['submission_id']);
      const saved = await savePost(host, caller.user, { form: caller.form, submission });
      return wantsPage(request)
        ? new RestResponse({ status: 303, headers: { ...noStore, Location: saved.edit_url }, content: '' })
        : new RestResponse({ body: saved, headers: noStore });
    },
    async download(request) {
      const caller = await visitors.enter(request, '');
      const { response } = await ownSubmission({ submissions }, caller, request.params['submission_id']);
      return createDownload(response, { name: caller.form.name, format: String(request.params['format']) });
    },
  };
}

interface Submitting {
  readonly request: RestRequest;
  readonly body: SubmissionBody;
  readonly caller: Caller;
}

async function submitBody(parts: AiForms, { request, body, caller }: Submitting): Promise<RestResponse> {
  const { host } = parts;
  let headers: Readonly<Record<string, string>> = {};
  const refuse = (error: unknown): RestResponse | Promise<RestResponse> => {
    const failure = visitorErrorFor(error, caller);
    if (failure !== error && !(error instanceof RestError))
      request.log.error('Form submission failed', { event: 'form_submission_failed', form: caller.form.id, error });
    if (!wantsPage(request)) throw failure;
    return refusalPage({ host, visitors: parts.visitors }, caller, { error: translateError(failure), body, headers });
  };
  try {
    await requireVisitor(parts, caller, request.headers[nonceHeader] ?? body.nonce);
    const welcome = await parts.visitors.welcome(caller);
    ({ headers } = welcome);
    const begin = await prepare(parts, { welcome, body, isPage: wantsPage(request), signal: request.signal });
    const fail = (error: unknown): RestError => translateError(visitorErrorFor(error, caller));
    if (request.headers['accept']?.includes('text/event-stream'))
      return await streamResponse({
        begin,
        fail,
        signal: request.signal,
        clock: host.clock,
        headers: { ...noStore, ...headers },
      });
    const submission = await (await begin({ signal: request.signal })).completed;
    if (wantsPage(request))
      return await responsePage({ host, visitors: parts.visitors }, caller, {
        submission,
        headers,
        pageUrl: body.pageUrl,
        maySave: maySavePosts(caller.form, caller.user),
      });
    return new RestResponse({ body: submitResponseOf(submission), headers: { ...noStore, ...headers } });
  } catch (error) {
    return refuse(error);
  }
}

/** Requires a session, or the nonce of a form that this site rendered. */
async function requireVisitor({ visitors }: Pick<AiForms, 'visitors'>, caller: Caller, nonce: string): Promise<void> {
  const isOwnForm = caller.origin.isOwn || caller.origin.origin === null;
  if (caller.session === null && !(isOwnForm && (await visitors.isNonce(nonce, caller.form.id))))
    throw errors.form_expired();
}

export type Begin = (watchers: Watchers) => ReturnType<AiForms['submit']>;

interface Preparing {
  readonly welcome: Welcome;
  readonly body: SubmissionBody;
  readonly isPage: boolean;
  readonly signal: AbortSignal;
}

/**
 * Makes all checks before the response is generated. A file that cannot be read counts against the limit.
 *
 * @throws RestError 400 `rest_invalid_param`, 429 `rest_svc_rate_limited`, `rest_svc_form_limit_reached`.
 */
async function prepare(
  { host, submit, limits, signer, submissions }: AiForms,
  { welcome, body, isPage, signal }: Preparing,
): Promise<Begin> {
  const { visitor } = welcome;
  const { form, user, session, ip } = visitor;
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(body.submissionId))
    throw invalidValues({ submission_id: 'submission_id must be a UUID.' });
  if (form.consent.required && !body.consent) throw invalidValues({ [consentError]: 'Tick the box to continue.' });
  const limit = await limits.of(visitor);
  const idOf = async (owner: readonly string[]): Promise<string> =>
    uuidOf(await signer.sign('form-submission', [form.id, user.id, body.submissionId, ...owner]));
  // Reading a file costs more than a refusal. A repeated submission still gets its response.
  const mayRead =
    limit === null ||
    Object.keys(body.files).length === 0 ||
    (await limits.left(limit)) > 0 ||
    (!isPage && (await submissions.find(await idOf([session.id]))) !== null);
  if (!mayRead) throw errors.form_limit_reached(limits.refusal(limit, form.limits));
  const values = await readValues(form.elements, body, {
    host,
    queue: user.id === 0 ? 'visitors' : user.can('upload_files') ? 'site' : 'members',
    userId: user.id,
    signal,
    async onFailure() {
      if (limit !== null) await host.database.transaction(() => reserveResponse(limits, limit, form));
    },
  });
  // A cached page gives several visitors the same submission id, so without script the id includes address and content.
  const owner = isPage
    ? [ip, visitor.userAgent, createHash('sha256').update(JSON.stringify(values.promptValues)).digest('hex')]
    : [session.id];
  const id = await idOf(owner);
  return (watchers) =>
    submit({ form, user, session: session.id, limit, id, values, pageUrl: body.pageUrl, ...watchers });
}

/** A completed submission of the caller. @throws RestError 404, also for submissions of others. */
async function ownSubmission(
  { submissions }: Pick<AiForms, 'submissions'>,
  { form, user, session }: Caller,
  id: unknown,
): Promise<Submission> {
  const found = await submissions.find(String(id).toLowerCase());
  const isOwn =
    found !== null &&
    found.formId === form.id &&
    (user.id > 0 ? found.userId === user.id : found.userId === 0 && session !== null && found.sessionId === session.id);
  if (!isOwn || found.status !== 'completed' || found.response === '') throw errors.submission_not_found();
  return found;
}

function wantsPage({ headers }: RestRequest): boolean {
  return headers['accept']?.includes('text/html') === true;
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.subarray(0, 16).toString('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}
