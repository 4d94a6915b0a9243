import { identifyCaller, inLanguage, requireView, translateText, trimSlashes, withNotice } from '#plugin-api';
import { tmpdir } from 'node:os';
import type { Request, Response } from 'express';
import type { AdminActionResult, AdminDownload, AdminRequest, Logger } from '#plugin-api';
import { askForPassword, readConfirmation } from './confirm-password.ts';
import { askQuestion, readQuestion } from './confirm-question.ts';
import {
  askOverwrite,
  conflictOf,
  findChanges,
  refuseExpired,
  refuseText,
  showCorrection,
  stampOf,
} from './correct-form.ts';
import type { AdminContext, SignedIn } from './dependencies.ts';
import { toFailure } from './failure.ts';
import { adminPath } from './local-path.ts';
import type { Notice } from './notices.ts';
import { canOpen, type RegisteredPage } from './registry.ts';
import type { Outcome } from './outcome.ts';
import { freshSignInCode, readQuery, readSentForm, requestId, toAdminRequest, wantsJson } from './request.ts';
import { viewActions } from './saved-views.ts';
import type { Stamp } from './shown-forms.ts';
import { pageNonceAction, redirectTarget } from './shell.ts';
import { isMultipart, readUpload, type Upload } from './uploads.ts';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withStatus } from './with-status.ts';

interface Visit {
  readonly request: Request;
  readonly response: Response;
  readonly session: SignedIn;
  /** The user must set up two-step sign-in before any other page opens. */
  readonly isLimited: boolean;
}

/**
 * Serves the pages of the host and of plugins. GET renders the page. POST `?action=<name>` checks session, capability and
 * nonce in this order, then runs the action.
 */
export function createPageHandler(context: AdminContext): (request: Request, response: Response) => Promise<void> {
  return async (request, response) => {
    const full = await context.authenticate(request);
    const limited = full ? null : await context.limitedSession(request);
    const session = full ?? limited;
    if (!session) return context.errorResponses.requireSignIn(request, response);
    if (limited && !opensLimited(readSlug(request), limited)) return requireTwoFactor(context, request, response);
    identifyCaller({ userId: session.user.id });
    const visit = { request, response, session, isLimited: !full };
    return inLanguage(context.language?.(session.user.profile?.locale), () => servePage(context, visit));
  };
}

/** Whether a page opens before two-step sign-in is set up. */
function opensLimited(slug: string, { mayDeactivate }: { readonly mayDeactivate: boolean }): boolean {
  return slug === twoFactorSlug || (slug === 'plugins' && mayDeactivate);
}

async function servePage(context: AdminContext, visit: Visit): Promise<void> {
  const { request, session } = visit;
  const page = context.registry.page(readSlug(request));
  if (!page) return context.errorResponses.refuse({ ...visit, status: 404, text: 'This admin page does not exist.' });
  if (!canOpen(session.user, page.declaration))
    return context.errorResponses.refuse({ ...visit, status: 403, text: 'You are not allowed to open this page.' });
  if (request.method === 'POST') return runAction(context, page, visit);
  if (request.method === 'GET' || request.method === 'HEAD') {
    const { error } = readQuery(request);
    const refusal = error === null ? {} : { status: 400, notice: { kind: 'error', text: error } as const };
    return showPage(context, page, { ...visit, ...refusal });
  }
  return context.errorResponses.refuse({
    ...visit,
    status: 405,
    text: 'This page accepts GET and POST only.',
  });
}

/** The page on which users set up two-step sign-in. */
export const twoFactorSlug = 'profile/two-step';

/** Sends a user whose role requires two-step sign-in to the page that sets it up. A script gets 403. */
async function requireTwoFactor(context: AdminContext, request: Request, response: Response): Promise<void> {
  if (!wantsJson(request)) {
    response.redirect(302, adminPath(twoFactorSlug));
    return;
  }
  await context.errorResponses.refuse({
    request,
    response,
    status: 403,
    code: 'two_factor_required',
    text: 'Your role requires two-step sign-in. Set it up on your profile first.',
  });
}

function readSlug(request: Request): string {
  const path = trimSlashes(request.path);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

interface PageState {
  readonly notice?: Notice | null;
  readonly reveal?: AdminActionResult['reveal'];
  readonly body?: AdminActionResult['page'];
  readonly status?: number;
  readonly sent?: Stamp | undefined;
}

async function showPage(context: AdminContext, page: RegisteredPage, visit: Visit & PageState): Promise<void> {
  const { request, response, session, isLimited, reveal, sent } = visit;
  const notice = visit.notice ?? (await context.flash.consume(request, response, session));
  const adminRequest = toAdminRequest({
    request,
    response,
    user: session.user,
    form: {},
    log: logOf(context, page),
    isSignInFresh: context.isFresh(session),
  });
  try {
    const { template, data, title, trail } = requireView(
      visit.body ?? (await (await page.body()).render(adminRequest)),
      `${visit.body ? 'An action' : "'render'"} of the page '${page.declaration.slug}' (plugin '${page.owner}')`,
    );
    const html = await context.shell.full({
      request,
      page: page.declaration,
      template,
      session,
      isLimited,
      notice,
      ...(sent && { sent }),
      ...(title !== undefined && { title }),
      ...(trail && { trail }),
      ...(data && { data }),
      ...(reveal && { reveal }),
    });
    withStatus(response, visit.status ?? 200)
      .type('html')
      .send(html);
  } catch (error) {
    const failure = toFailure(error, {
      ...{ log: logOf(context, page), id: adminRequest.id },
      ...{ page: page.declaration.slug, owner: page.owner },
    });
    await context.errorResponses.refuse({ ...visit, status: failure.status, text: failure.text });
  }
}

/** Names the plugin of the page. */
function logOf({ log }: AdminContext, { owner }: RegisteredPage): Logger {
  return owner === 'host' ? log : log.child({ plugin: owner });
}

async function runAction(context: AdminContext, page: RegisteredPage, visit: Visit): Promise<void> {
  const { uploadLimit } = page.declaration;
  if (uploadLimit === undefined || !isMultipart(visit.request))
    return runForm(context, page, { ...visit, form: readSentForm(visit.request) });
  let upload: Upload;
  try {
    upload = await readUpload(visit.request, { limit: uploadLimit, parent: context.uploadsDir ?? tmpdir() });
  } catch (error) {
    const { status, text, code } = toFailure(error, { log: context.log, id: requestId(visit.response) });
    return context.errorResponses.refuse({ ...visit, status, text, code });
  }
  try {
    await runForm(context, page, { ...visit, ...upload });
  } finally {
    await upload.discard();
  }
}

type Submission = Visit & Pick<Upload, 'form'> & Partial<Upload>;

async function runForm(context: AdminContext, page: RegisteredPage, submission: Submission): Promise<void> {
  const { form, discard, ...visit } = submission;
  const { request, response, session } = visit;
  const nonce = form['_nonce'] ?? request.headers['x-wp-nonce'];
  const isGenuine =
    typeof nonce === 'string' &&
    (await context.nonces.verify({ nonce, action: pageNonceAction(page.declaration.slug), ...session }));
  if (!isGenuine) return refuseExpired(context, page, submission);
  const refused = refuseText(form);
  if (refused !== null)
    return wantsJson(request) ? sendJson(response, refused) : showCorrection(context, page, submission);
  const changes = await findChanges(context, page, submission);
  if (changes.length > 0 && wantsJson(request)) return sendJson(response, conflictOf(changes));
  if (form['_check'] !== undefined) return sendJson(response, { result: { readOnly: true }, status: 200 });
  const question = readQuestion(form);
  if (question !== '' && !wantsJson(request)) return askQuestion(context, page, { ...submission, question });
  if (changes.length > 0) return askOverwrite(context, page, { ...submission, changes });
  const confirmation = await readConfirmation(context, { request, response, session, form });
  const outcome = confirmation.refusal ?? (await runNamedAction(context, page, { ...submission, ...confirmation }));
  if (!outcome)
    return context.errorResponses.refuse({ ...visit, status: 404, text: 'This page does not have that action.' });
  await discard?.();
  if (response.destroyed) return;
  if (outcome.result.download)
    await sendDownload(response, outcome.result.download, context.log.child({ request_id: requestId(response) }));
  else if (wantsJson(request)) sendJson(response, outcome);
  else if (outcome.code === freshSignInCode) await askForPassword(context, page, { ...submission, outcome });
  else await sendPage(context, page, { ...visit, outcome, sent: stampOf(submission) });
}

/** Null: the page has no action with the name in `?action=`. */
async function runNamedAction(
  context: AdminContext,
  page: RegisteredPage,
  { files, ...submission }: Submission & { readonly isSignInFresh: boolean },
): Promise<Outcome | null> {
  const log = logOf(context, page);
  const request = toAdminRequest({ ...submission, user: submission.session.user, ...(files && { files }), log });
  try {
    const name = request.query['action'];
    const viewAction = typeof name === 'string' && Object.hasOwn(viewActions, name) ? viewActions[name] : undefined;
    if (viewAction)
      return { result: await viewAction(context.savedViews, page.declaration.slug, request), status: 200 };
    const { actions = {} } = await page.body();
    const action = typeof name === 'string' && Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) return null;
    // A plugin in plain JavaScript may return nothing.
    const result = ((await action(request)) as AdminActionResult | undefined) ?? {};
    const status = result.status ?? (result.notice?.kind === 'error' ? 400 : 200);
    if (status < 400) await reportAction(context, page, { request, action: String(name), result });
    return { result, status };
  } catch (error) {
    const failure = toFailure(error, { log, id: request.id, owner: page.owner });
    return {
      result: withNotice('error', failure.text),
      status: failure.status,
      code: failure.code,
      data: failure.data,
    };
  }
}

async function reportAction(
  { hooks, log }: AdminContext,
  { declaration: { slug, capability = 'manage_options' } }: RegisteredPage,
  done: { readonly request: AdminRequest; readonly action: string; readonly result: AdminActionResult },
): Promise<void> {
  const { request, action, result } = done;
  const report = { page: slug, action, capability, userId: request.user.id, ip: request.ip };
  try {
    await hooks.doActionAsync('admin_action_done', {
      ...report,
      download: result.download?.name ?? null,
      readOnly: result.readOnly === true,
    });
  } catch (error) {
    // The action itself is done.
    log.error('Callback of admin_action_done failed', { event: 'admin_action_hook_failed', error });
  }
}

function sendJson(response: Response, { result, status, code, data }: Outcome): void {
  const { notice, reveal } = result;
  withStatus(response, status).json({
    notice: notice ? { ...notice, text: translateText(notice.text) } : null,
    reveal: reveal ? { ...reveal, label: translateText(reveal.label) } : null,
    data: result.data ?? data ?? null,
    redirect: result.redirect === undefined ? null : redirectTarget(result.redirect),
    ...(code !== undefined && { code }),
  });
}

/** A secret that is shown once is part of the response itself, so no cookie or table ever stores it. */
async function sendPage(
  context: AdminContext,
  page: RegisteredPage,
  visit: Visit & { readonly outcome: Outcome; readonly sent: Stamp | undefined },
): Promise<void> {
  const {
    response,
    session,
    outcome: { result, status },
  } = visit;
  if (result.page || result.reveal) {
    await showPage(context, page, {
      ...visit,
      notice: result.notice ?? null,
      status,
      ...(result.reveal && { reveal: result.reveal }),
      ...(result.page && { body: result.page }),
    });
    return;
  }
  if (result.notice) await context.flash.write(response, result.notice, session);
  response.redirect(
    303,
    result.redirect === undefined ? adminPath(page.declaration.slug) : redirectTarget(result.redirect),
  );
}

/** Streams a file. If its content fails, the connection is closed and the error is logged. */
async function sendDownload(
  response: ServerResponse,
  { name, type, content }: AdminDownload,
  log: Logger,
): Promise<void> {
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Disposition', contentDisposition(name));
  response.setHeader('Cache-Control', 'no-store');
  try {
    await pipeline(Readable.from(content, { objectMode: true }), response);
  } catch (error) {
    // The browser closed the connection: not an error of the server.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE')
      log.error('Download failed', { event: 'download_failed', name, error });
    response.destroy();
  }
}

/** RFC 6266: an ASCII name for every browser, followed by the real name. */
function contentDisposition(name: string): string {
  const plain = name.replace(/[^\w. -]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encoded}`}`;
}
