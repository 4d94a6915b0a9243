import { createHash } from 'node:crypto';
import { RestError, RestResponse, type RestRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { errors } from '../../../kit/errors.ts';
import { clientNetwork } from '../../../kit/visitors/address.ts';
import { namedOrigin } from '../../../kit/visitors/origin.ts';
import { aiFormsOf, type AiForms } from '../ai-forms.ts';
import type { FormBurstLimits } from '../hooks.ts';
import type { Submission } from '../submissions/submission.ts';
import { invalidValues, readValues } from '../submit/read-values.ts';
import { answerPage, refusalPage } from './answer-page.ts';
import { downloadOf } from './download.ts';
import { failureFor } from './failure.ts';
import { formView } from './form-view.ts';
import { consentError } from './markup.ts';
import type { StartAnswer } from './protocol.ts';
import { readBody, type GivenBody } from './read-body.ts';
import { maySavePosts, savePost } from './save-post.ts';
import { answerOf, streamAnswer, type Watchers } from './stream-answer.ts';
import type { Caller, Visitor, Welcome } from './visitor.ts';

/** What the routes of forms do; loaded with the first call. */
export interface FormHandlers {
  view(request: RestRequest): Promise<RestResponse>;
  start(request: RestRequest): Promise<RestResponse>;
  submit(request: RestRequest): Promise<RestResponse>;
  post(request: RestRequest): Promise<RestResponse>;
  download(request: RestRequest): Promise<RestResponse>;
  /** Whether pages of an origin may call for a form (D16). */
  allows(origin: string, formId: number): Promise<boolean>;
}

/** Calls within a minute, on each node: against floods alone. */
const burstLimits: FormBurstLimits = { starts_per_address: 120, submits_per_address: 60 };
const unstored = { 'Cache-Control': 'no-store' };

export function createHandlers(context: ServiceContext): FormHandlers {
  const { host } = context;
  const parts = aiFormsOf(context);
  const { visitors, floods, limits, submissions } = parts;
  const tokenOf = ({ params }: RestRequest): string => (typeof params['token'] === 'string' ? params['token'] : '');

  return {
    allows: (origin, formId) => visitors.allows(namedOrigin(origin, host.site.url), formId),
    async view(request) {
      const { form, origin } = await visitors.enter(request, '');
      // The answer depends on who asks: caches between may keep it for nobody else.
      return new RestResponse({
        body: await host.hooks.applyFiltersAsync('svc_form_config', formView(form), form, origin.origin),
        headers: { 'Cache-Control': 'private, no-cache', Vary: 'Referer' },
      });
    },
    async start(request) {
      const caller = await visitors.enter(request, tokenOf(request));
      floods.count(
        `starts ${clientNetwork(request.ip)}`,
        host.hooks.applyFilters('svc_form_burst_limits', burstLimits, caller.form).starts_per_address,
      );
      const { visitor, token, headers } = await visitors.welcome(caller);
      const { form, user } = visitor;
      const limit = await limits.of(limited(visitor));
      const body: StartAnswer = {
        token,
        limit: limit !== null && (await limits.left(limit)) <= 0 ? limits.shown(form, limit) : null,
        may_save: maySavePosts(form, user),
      };
      return new RestResponse({ body, headers: { ...unstored, ...headers } });
    },
    async submit(request) {
      const body = await readBody(request);
      const caller = await visitors.enter(request, body.token);
      floods.count(
        `submits ${clientNetwork(request.ip)}`,
        host.hooks.applyFilters('svc_form_burst_limits', burstLimits, caller.form).submits_per_address,
      );
      return submitBody(context, { request, body, caller });
    },
    async post(request) {
      const caller = await visitors.enter(request, tokenOf(request));
      if (!caller.origin.isOwn) throw errors.form_origin_not_allowed();
      const submission = await ownSubmission({ submissions }, caller, request.params['submission_id']);
      const saved = await savePost(host, caller.user, { form: caller.form, submission });
      return wantsPage(request)
        ? new RestResponse({ status: 303, headers: { ...unstored, Location: saved.edit_url }, content: '' })
        : new RestResponse({ body: saved, headers: unstored });
    },
    async download(request) {
      const caller = await visitors.enter(request, '');
      const { response } = await ownSubmission({ submissions }, caller, request.params['submission_id']);
      return downloadOf(response, { name: caller.form.name, format: String(request.params['format']) });
    },
  };
}

interface Submitting {
  readonly request: RestRequest;
  readonly body: GivenBody;
  readonly caller: Caller;
}

async function submitBody(context: ServiceContext, { request, body, caller }: Submitting): Promise<RestResponse> {
  const parts = aiFormsOf(context);
  const { host } = context;
  let headers: Readonly<Record<string, string>> = {};
  const refuse = (error: unknown): RestResponse | Promise<RestResponse> => {
    const failure = failureFor(error, caller);
    if (failure !== error && !(error instanceof RestError))
      request.log.error('A form could not be submitted', { form: caller.form.id, error });
    if (!wantsPage(request)) throw failure;
    return refusalPage({ host, visitors: parts.visitors }, caller, { error: failure, body, headers });
  };
  try {
    const welcome = await admit(parts, caller, body);
    ({ headers } = welcome);
    const begin = await prepare(parts, { welcome, body, isPage: wantsPage(request) });
    const fail = (error: unknown): RestError => failureFor(error, caller);
    if (request.headers['accept']?.includes('text/event-stream'))
      return await streamAnswer({
        begin,
        fail,
        signal: request.signal,
        clock: host.clock,
        headers: { ...unstored, ...headers },
      });
    const submission = await (await begin({ signal: request.signal })).answer;
    if (wantsPage(request))
      return await answerPage({ host, visitors: parts.visitors }, caller, {
        submission,
        headers,
        pageUrl: body.pageUrl,
        maySave: maySavePosts(caller.form, caller.user),
      });
    return new RestResponse({ body: answerOf(submission), headers: { ...unstored, ...headers } });
  } catch (error) {
    return refuse(error);
  }
}

/** The visitor with a session: one that there is, or a new one for a form that the site itself wrote. */
async function admit({ visitors }: AiForms, caller: Caller, body: GivenBody): Promise<Welcome> {
  const isOwnForm = caller.origin.isOwn || caller.origin.origin === null;
  if (caller.session === null && !(isOwnForm && (await visitors.isNonce(body.nonce, caller.form.id))))
    throw errors.form_expired();
  return visitors.welcome(caller);
}

export type Begin = (watchers: Watchers) => ReturnType<AiForms['submit']>;

/** All that can be refused before anything is taken. @throws RestError 400 `rest_invalid_param`. */
async function prepare(
  { submit, limits, signer }: AiForms,
  { welcome, body, isPage }: { readonly welcome: Welcome; readonly body: GivenBody; readonly isPage: boolean },
): Promise<Begin> {
  const { visitor } = welcome;
  const { form, user, session, ip } = visitor;
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(body.submissionId))
    throw invalidValues({ submission_id: 'submission_id must be a UUID that the page made.' });
  if (form.consent.required && !body.consent) throw invalidValues({ [consentError]: 'Please agree first.' });
  const values = await readValues(form.elements, body);
  // A page may have been kept by a cache and sent to several: their first submissions have one id, but not one content.
  const owner = isPage
    ? [ip, visitor.userAgent, createHash('sha256').update(JSON.stringify(values.promptValues)).digest('hex')]
    : [session.id];
  const id = uuidOf(await signer.sign('form-submission', [form.id, user.id, body.submissionId, ...owner]));
  const limit = await limits.of(limited(visitor));
  return (watchers) =>
    submit({ form, user, session: session.id, limit, id, values, pageUrl: body.pageUrl, ...watchers });
}

function limited({ form, user, session, ip }: Visitor) {
  return { form, user, session: session.id, ip };
}

/** A submission of the caller's that was answered. @throws RestError 404, also for one of somebody else. */
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

/** Browsers ask for pages; scripts say what they want. */
function wantsPage({ headers }: RestRequest): boolean {
  return headers['accept']?.includes('text/html') === true;
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.subarray(0, 16).toString('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}
