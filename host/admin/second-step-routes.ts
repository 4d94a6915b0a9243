import type { Request, Response, Router } from 'express';

import { restError, translateText } from '#plugin-api';
import type { AdminContext, OpenedSession, PasskeyRequest } from './dependencies.ts';
import { toFailure, type Failure } from './failure.ts';
import { textField } from './form.ts';
import { adminPath, localAdminPath } from './local-path.ts';
import { passkeyScript, showLogin } from './show-login.ts';
import { formError, isSameOrigin, readForm, requestId } from './request.ts';
import { readVisitor } from './session-routes.ts';
import { withStatus } from './with-status.ts';

const otherSite = 'The form was sent from another site. Sign in here.';
const unknownPasskey = 'The passkey could not be verified. Try again, or sign in with your password.';

/** The second step after a right password, and sign-in with a passkey alone. */
export function addSecondStepRoutes(router: Router, context: AdminContext): void {
  router.get('/login/verify', (request, response) =>
    showSecondStep(context, { request, response, wanted: wantedPage(request.query['to']) }),
  );
  router.post('/login/verify', (request, response) => enterSecondStep(context, request, response));
  router.post('/login/verify/options', (request, response) =>
    sendOptions(context, { request, response, read: () => context.secondStep.requestPasskey(request) }),
  );
  router.post('/login/confirm/options', (request, response) =>
    sendOptions(context, { request, response, read: () => requestConfirmation(context, request) }),
  );
  router.post('/login/passkey', (request, response) => signInWithPasskey(context, request, response));
  router.post('/login/passkey/options', (request, response) =>
    sendOptions(context, { request, response, read: () => context.secondStep.requestPasskeySignIn() }),
  );
}

/** Where the admin asks for the password, a passkey works instead. */
async function requestConfirmation(context: AdminContext, request: Request): Promise<PasskeyRequest> {
  const session = (await context.authenticate(request)) ?? (await context.limitedSession(request));
  if (session === null) throw restError(401, 'rest_not_logged_in', 'You are not currently logged in.');
  return context.secondStep.requestConfirmation(session);
}

function wantedPage(to: unknown): string {
  return localAdminPath(to) ?? adminPath();
}

interface Shown {
  readonly request: Request;
  readonly response: Response;
  readonly wanted: string;
  readonly status?: number;
  readonly error?: string;
}

async function showSecondStep(context: AdminContext, { request, response, wanted, ...shown }: Shown): Promise<void> {
  const choice = await context.secondStep.find(request);
  if (choice === null) return restart(response, wanted);
  const html = await context.shell.narrow({
    title: 'Two-step sign-in',
    template: 'admin/second-step',
    data: { ...choice, wanted, restart: loginPath(wanted) },
    notice: shown.error === undefined ? null : { kind: 'error', text: shown.error },
    ...(choice.hasPasskey && { script: passkeyScript }),
  });
  withStatus(response, shown.status ?? 200)
    .type('html')
    .send(html);
}

function restart(response: Response, wanted: string): void {
  response.redirect(303, `${loginPath(wanted)}&expired`);
}

function loginPath(wanted: string): string {
  return `${adminPath('login')}?to=${encodeURIComponent(wanted)}`;
}

async function enterSecondStep(context: AdminContext, request: Request, response: Response): Promise<void> {
  const form = readForm(request);
  const wanted = wantedPage(form['to']);
  const failed = (status: number, error: string): Promise<void> =>
    showSecondStep(context, { request, response, wanted, status, error });
  if (!isSameOrigin(request)) return failed(403, otherSite);
  const unstorable = formError(request);
  if (unstorable !== null) return failed(400, unstorable);
  const credential = textField(form, 'credential');
  const code = textField(form, 'code');
  if (credential === '' && code === '') return failed(400, 'Enter a code.');
  const { secondStep } = context;
  const visitor = readVisitor(request);
  const outcome = await attempt(context, response, () =>
    credential === ''
      ? secondStep.enterCode(request, { code, ...visitor })
      : secondStep.enterPasskey(request, { credential, challenge: textField(form, 'challenge'), ...visitor }),
  );
  if (outcome === null)
    return failed(
      401,
      credential === ''
        ? 'Incorrect code. Each code works once: wait for the next one if you have just used it.'
        : unknownPasskey,
    );
  if ('status' in outcome)
    return outcome.code === 'sign_in_expired' ? restart(response, wanted) : failed(outcome.status, outcome.text);
  response.append('Set-Cookie', secondStep.clearingCookie());
  enter(response, outcome, wanted);
}

async function signInWithPasskey(context: AdminContext, request: Request, response: Response): Promise<void> {
  const form = readForm(request);
  const wanted = wantedPage(form['to']);
  const failed = (status: number, text: string): Promise<void> =>
    showLogin(context, response, { wanted, status, notice: { kind: 'error', text } });
  if (!isSameOrigin(request)) return failed(403, otherSite);
  const unstorable = formError(request);
  if (unstorable !== null) return failed(400, unstorable);
  const outcome = await attempt(context, response, () =>
    context.secondStep.signInWithPasskey({
      credential: textField(form, 'credential'),
      challenge: textField(form, 'challenge'),
      remember: form['remember'] === '1',
      ...readVisitor(request),
    }),
  );
  if (outcome === null) return failed(401, unknownPasskey);
  if ('status' in outcome) return failed(outcome.status, outcome.text);
  enter(response, outcome, wanted);
}

function enter(response: Response, session: OpenedSession, wanted: string): void {
  response.append('Set-Cookie', session.cookie);
  response.redirect(303, wanted);
}

/** The session, null for a wrong code or passkey, or the failure to show. */
async function attempt(
  context: AdminContext,
  response: Response,
  signIn: () => Promise<OpenedSession | null>,
): Promise<OpenedSession | Failure | null> {
  try {
    return await signIn();
  } catch (error) {
    return toFailure(error, { log: context.log, id: requestId(response) });
  }
}

/** What the browser passes to its authenticators, as JSON for the script. */
async function sendOptions(
  context: AdminContext,
  { request, response, read }: { request: Request; response: Response; read: () => Promise<unknown> },
): Promise<void> {
  if (!isSameOrigin(request)) {
    response.status(403).json({ message: translateText(otherSite) });
    return;
  }
  try {
    response.json(await read());
  } catch (error) {
    const { status, code, text } = toFailure(error, { log: context.log, id: requestId(response) });
    response.status(status).json({ code, message: translateText(text) });
  }
}
