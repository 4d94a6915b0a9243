import type { Request, Response, Router } from 'express';

import type { AdminContext, Visitor } from './dependencies.ts';
import { toFailure } from './failure.ts';
import { textField } from './form.ts';
import { adminPath, localAdminPath, secondStepPath } from './local-path.ts';
import { showLogin, type LoginForm } from './show-login.ts';
import { formError, isSameOrigin, readForm, requestId } from './request.ts';
import { logoutAction } from './shell.ts';

/** Sign-in, sign-out and the REST nonce. Sign-out is a POST with a nonce, so other sites cannot trigger it. */
export function addSessionRoutes(router: Router, context: AdminContext): void {
  router.get('/login', async (request, response) => {
    const wanted = localAdminPath(request.query['to']) ?? adminPath();
    if ((await context.authenticate(request)) ?? (await context.limitedSession(request))) {
      response.redirect(302, wanted);
      return;
    }
    const notice = noticeOf(request);
    await showLogin(context, response, { wanted, ...(notice && { notice }) });
  });
  router.get('/rest-nonce', (request, response) => sendRestNonce(context, request, response));
  router.post('/login', (request, response) => signIn(context, request, response));
  router.post('/logout', (request, response) => signOut(context, request, response));
}

function noticeOf({ query }: Request): NonNullable<LoginForm['notice']> | null {
  if (query['signed-out'] !== undefined) return { kind: 'success', text: 'You have signed out.' };
  if (query['password-set'] !== undefined) return { kind: 'success', text: 'Your password is set. Sign in with it.' };
  if (query['expired'] === undefined) return null;
  return { kind: 'error', text: 'Your sign-in has expired. Enter your user name and password again.' };
}

/**
 * A new REST nonce as plain text, for pages that outlived their own (`nonceEndpoint` of @wordpress/api-fetch). Scripts of
 * other sites cannot read it. 401 without a session, 403 while the user must set up two-step sign-in first: their form may go on.
 */
async function sendRestNonce(context: AdminContext, request: Request, response: Response): Promise<void> {
  const session = await context.authenticate(request);
  const nonce = session && (await context.nonces.create('wp_rest', session.user, session.sessionId));
  response.type('text/plain');
  if (nonce) response.send(nonce);
  else if (await context.limitedSession(request)) response.status(403).send('Set up two-step sign-in first.');
  else response.status(401).send('Sign in first.');
}

export function readVisitor(request: Request): Visitor {
  return { ip: request.ip ?? '', userAgent: (request.headers['user-agent'] ?? '').slice(0, 500) };
}

async function signIn(context: AdminContext, request: Request, response: Response): Promise<void> {
  const form = readForm(request);
  const wanted = localAdminPath(form['to']) ?? adminPath();
  const login = textField(form, 'login');
  const password = typeof form['password'] === 'string' ? form['password'] : '';
  const failed = (status: number, text: string): Promise<void> =>
    showLogin(context, response, { wanted, login, status, notice: { kind: 'error', text } });
  if (!isSameOrigin(request)) return failed(403, 'The form was sent from another site. Sign in here.');
  const unstorable = formError(request);
  if (unstorable !== null) return failed(400, unstorable);
  if (login === '' || password === '') return failed(400, 'Enter your user name and password.');
  try {
    const session = await context.login({
      login,
      password,
      remember: form['remember'] === '1',
      ...readVisitor(request),
    });
    // The same message for both, so that it does not reveal which user names exist.
    if (!session) return await failed(401, 'Incorrect user name or password.');
    response.append('Set-Cookie', session.cookie);
    response.redirect(303, session.sessionId === null ? secondStepPath(wanted) : wanted);
  } catch (error) {
    const failure = toFailure(error, { log: context.log, id: requestId(response) });
    await failed(failure.status, failure.text);
  }
}

async function signOut(context: AdminContext, request: Request, response: Response): Promise<void> {
  const session = (await context.authenticate(request)) ?? (await context.limitedSession(request));
  if (!session) {
    response.redirect(303, adminPath('login'));
    return;
  }
  const nonce = readForm(request)['_nonce'];
  const isGenuine =
    typeof nonce === 'string' && (await context.nonces.verify({ nonce, action: logoutAction, ...session }));
  if (!isGenuine) {
    await context.errorResponses.refuse({
      request,
      response,
      session,
      status: 403,
      code: 'rest_cookie_invalid_nonce',
      text: 'This page has expired. Reload it and sign out again.',
    });
    return;
  }
  const { cookie } = await context.logout(session);
  response.append('Set-Cookie', cookie);
  response.redirect(303, `${adminPath('login')}?signed-out`);
}
