import type { Request, Response, Router } from 'express';

import type { AdminContext } from './dependencies.ts';
import { toFailure } from './failure.ts';
import { textField } from './form.ts';
import { adminPath } from './local-path.ts';
import { formError, isSameOrigin, readForm, requestId } from './request.ts';
import { withStatus } from './with-status.ts';

/** "Forgot your password?", and the page behind the links of resets and invitations. */
export function addPasswordRoutes(router: Router, context: AdminContext): void {
  router.get('/forgot-password', (_request, response) => showForgot(context, response));
  router.post('/forgot-password', (request, response) => requestReset(context, request, response));
  router.get('/set-password', async (request, response) => {
    const token = typeof request.query['token'] === 'string' ? request.query['token'] : '';
    await showChoice(context, response, { token });
  });
  router.post('/set-password', (request, response) => choose(context, request, response));
}

interface ForgotPage {
  readonly status?: number;
  readonly error?: string;
  readonly login?: string;
  readonly isSent?: boolean;
}

async function showForgot(
  { passwords, shell }: AdminContext,
  response: Response,
  { status = 200, error, login = '', isSent = false }: ForgotPage = {},
): Promise<void> {
  const html = await shell.narrow({
    title: 'Forgot your password?',
    template: 'admin/forgot-password',
    data: { isSent, login, canMail: await passwords.isMailAvailable(), contact: await passwords.contact() },
    notice: error === undefined ? null : { kind: 'error', text: error },
  });
  withStatus(response, status).type('html').send(html);
}

/** The response is the same for known and unknown accounts, and is sent before the account is looked up. */
async function requestReset(context: AdminContext, request: Request, response: Response): Promise<void> {
  const login = textField(readForm(request), 'login').slice(0, 254);
  const failed = (status: number, error: string): Promise<void> =>
    showForgot(context, response, { status, error, login });
  if (!isSameOrigin(request)) return failed(403, 'The form was sent from another site. Send it here.');
  if (!(await context.passwords.isMailAvailable())) return showForgot(context, response, { status: 503 });
  const unstorable = formError(request);
  if (unstorable !== null) return failed(400, unstorable);
  if (login === '') return failed(400, 'Enter your user name or email address.');
  try {
    await context.passwords.countRequest(request.ip ?? '');
  } catch (error) {
    const failure = toFailure(error, { log: context.log, id: requestId(response) });
    return failed(failure.status, failure.text);
  }
  await showForgot(context, response, { isSent: true });
  context.passwords.startReset(login);
}

interface ChoicePage {
  readonly token: string;
  readonly status?: number;
  readonly errors?: Readonly<Record<string, string>>;
  readonly notice?: string;
}

async function showChoice(
  { passwords, shell }: AdminContext,
  response: Response,
  { token, status, errors = {}, notice }: ChoicePage,
): Promise<void> {
  const link = await passwords.find(token);
  const html = await shell.narrow({
    title: link === null ? 'This link is void' : 'Choose a password',
    template: 'admin/set-password',
    data: {
      link: link && { kind: link.kind, login: link.user.login },
      credentials: link === null ? [] : await passwords.credentialsOf(link.user.id),
      token,
      errors,
    },
    notice: notice === undefined ? null : { kind: 'error', text: notice },
  });
  // The address of this page contains the token.
  response.setHeader('Referrer-Policy', 'no-referrer');
  withStatus(response, status ?? (link === null ? 403 : 200))
    .type('html')
    .send(html);
}

async function choose(context: AdminContext, request: Request, response: Response): Promise<void> {
  const form = readForm(request);
  const token = textField(form, 'token');
  const password = typeof form['password'] === 'string' ? form['password'] : '';
  const again = (page: Omit<ChoicePage, 'token'>): Promise<void> => showChoice(context, response, { token, ...page });
  if (!isSameOrigin(request))
    return again({ status: 403, notice: 'The form was sent from another site. Send it here.' });
  const unstorable = formError(request);
  if (unstorable !== null) return again({ status: 400, notice: unstorable });
  if (password !== form['password_again'])
    return again({ status: 400, errors: { password_again: 'The passwords do not match.' } });
  try {
    const revokesCredentials = form['revoke_credentials'] !== undefined;
    if ((await context.passwords.choose(token, password, { revokesCredentials })) === null) return await again({});
    response.redirect(303, `${adminPath('login')}?password-set`);
  } catch (error) {
    const failure = toFailure(error, { log: context.log, id: requestId(response) });
    const hasFields = failure.fields['password'] !== undefined;
    await again({ status: failure.status, errors: failure.fields, ...(!hasFields && { notice: failure.text }) });
  }
}
