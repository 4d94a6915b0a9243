import type { Request, Response, Router } from 'express';

import type { AdminContext, SetupInput, SignedIn } from './dependencies.ts';
import { toFailure, type Failure } from './failure.ts';
import { textField } from './form.ts';
import { adminPath } from './local-path.ts';
import { formError, isSameOrigin, readForm, requestId, toAdminRequest } from './request.ts';
import { readVisitor } from './session-routes.ts';
import { redirectTarget } from './shell.ts';
import { withStatus } from './with-status.ts';

const choiceAction = 'admin:setup-choice';
const invalidLink =
  'This setup link has been used or is out of date. If the site has no administrator yet, restart it and open the link it prints.';

/** First-run setup: the one-time link creates the administrator, signs them in and offers the setup choices. */
export function addSetupRoutes(router: Router, context: AdminContext): void {
  router.get('/setup', async (request, response) => {
    const token = typeof request.query['token'] === 'string' ? request.query['token'] : '';
    if (!(await canSetUp(context, token))) return refuseLink(context, request, response);
    await showSetup(context, response, { values: { token, siteName: await context.site.name() } });
  });
  router.post('/setup', (request, response) => completeSetup(context, request, response));
  router.get('/setup/choice', async (request, response) => {
    const session = await requireAdministrator(context, request, response);
    if (session) await showChoices(context, response, { session });
  });
  router.post('/setup/choice', (request, response) => applyChoice(context, request, response));
}

async function canSetUp(context: AdminContext, token: string): Promise<boolean> {
  return (await context.setup.needed()) && (await context.setup.accepts(token));
}

async function refuseLink(context: AdminContext, request: Request, response: Response): Promise<void> {
  if (!(await context.setup.needed()) && (await context.authenticate(request))) {
    response.redirect(303, adminPath());
    return;
  }
  await context.errorResponses.refuse({ request, response, status: 403, text: invalidLink });
}

interface SetupForm {
  readonly values: Partial<Omit<SetupInput, 'password'>>;
  readonly errors?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly notice?: string;
}

async function showSetup(
  context: AdminContext,
  response: Response,
  { values, errors, status, notice }: SetupForm,
): Promise<void> {
  const html = await context.shell.narrow({
    title: 'Set up your site',
    template: 'admin/setup',
    data: { values, errors: errors ?? {} },
    notice: notice === undefined ? null : { kind: 'error', text: notice },
  });
  withStatus(response, status ?? 200)
    .type('html')
    .send(html);
}

async function completeSetup(context: AdminContext, request: Request, response: Response): Promise<void> {
  const form = readForm(request);
  const password = typeof form['password'] === 'string' ? form['password'] : '';
  const values = {
    token: textField(form, 'token'),
    siteName: textField(form, 'site_name'),
    login: textField(form, 'login'),
    email: textField(form, 'email'),
  };
  if (!isSameOrigin(request) || !(await canSetUp(context, values.token))) return refuseLink(context, request, response);
  const errors = validateSetup({ ...values, password }, form['password_again']);
  const notice = formError(request);
  if (notice !== null) return showSetup(context, response, { values, notice, status: 400 });
  if (Object.keys(errors).length > 0) return showSetup(context, response, { values, errors, status: 400 });
  try {
    const user = await context.setup.complete({ ...values, password });
    const session = await context.openSession(user, readVisitor(request));
    response.append('Set-Cookie', session.cookie);
    response.redirect(303, adminPath('setup/choice'));
  } catch (error) {
    if (!(await canSetUp(context, values.token))) return refuseLink(context, request, response);
    await showSetup(context, response, {
      values,
      ...toFormErrors(toFailure(error, { log: context.log, id: requestId(response) })),
    });
  }
}

function validateSetup(input: SetupInput, passwordAgain: unknown): Record<string, string> {
  return {
    ...(input.siteName === '' && { site_name: 'Enter a name for the site.' }),
    ...(input.login === '' && { login: 'Enter a user name.' }),
    ...(!/^[^@\s]+@[^@\s]+$/.test(input.email) && { email: 'Enter a valid email address, like you@example.com.' }),
    ...(input.password.length < 12 && { password: 'Use at least 12 characters.' }),
    ...(input.password !== passwordAgain && { password_again: 'The passwords do not match.' }),
  };
}

function toFormErrors(failure: Failure): Pick<SetupForm, 'status' | 'errors' | 'notice'> {
  const hasFields = Object.keys(failure.fields).length > 0;
  return { status: failure.status, errors: failure.fields, ...(!hasFields && { notice: failure.text }) };
}

/** Returns the signed-in administrator, or null after sending an error response. */
async function requireAdministrator(
  context: AdminContext,
  request: Request,
  response: Response,
): Promise<SignedIn | null> {
  const session = await context.authenticate(request);
  if (session?.user.can('manage_options')) return session;
  if (session)
    await context.errorResponses.refuse({
      request,
      response,
      session,
      status: 403,
      text: 'Only an administrator can set up the site.',
    });
  else await context.errorResponses.requireSignIn(request, response);
  return null;
}

async function showChoices(
  context: AdminContext,
  response: Response,
  { session, notice, status }: { session: SignedIn; notice?: string; status?: number },
): Promise<void> {
  const choices = (await context.registry.availableChoices()).map(({ id, label, description }) => ({
    id,
    label,
    description,
  }));
  if (choices.length === 0) {
    response.redirect(303, adminPath());
    return;
  }
  const html = await context.shell.narrow({
    title: 'How would you like to start?',
    template: 'admin/setup-choice',
    data: { choices },
    wide: true,
    nonce: await context.nonces.create(choiceAction, session.user, session.sessionId),
    notice: notice === undefined ? null : { kind: 'error', text: notice },
  });
  withStatus(response, status ?? 200)
    .type('html')
    .send(html);
}

async function applyChoice(context: AdminContext, request: Request, response: Response): Promise<void> {
  const session = await requireAdministrator(context, request, response);
  if (!session) return;
  const form = readForm(request);
  const nonce = form['_nonce'];
  const isGenuine =
    typeof nonce === 'string' && (await context.nonces.verify({ nonce, action: choiceAction, ...session }));
  if (!isGenuine)
    return showChoices(context, response, { session, status: 403, notice: 'This form has expired. Choose again.' });
  const unstorable = formError(request);
  if (unstorable !== null) return showChoices(context, response, { session, status: 400, notice: unstorable });
  const choice = (await context.registry.availableChoices()).find(({ id }) => id === form['choice']);
  if (!choice) return showChoices(context, response, { session, status: 400, notice: 'Choose one of the options.' });
  try {
    const result = await choice.choose(
      toAdminRequest({
        request,
        response,
        user: session.user,
        form,
        log: context.log,
        isSignInFresh: context.isFresh(session),
      }),
    );
    if ('redirect' in result) {
      response.redirect(303, redirectTarget(result.redirect));
      return;
    }
    const html = await context.shell.narrow({
      title: choice.label,
      template: result.template,
      wide: true,
      ...(result.data && { data: result.data }),
    });
    response.type('html').send(html);
  } catch (error) {
    const failure = toFailure(error, { log: context.log, id: requestId(response) });
    await showChoices(context, response, { session, status: failure.status, notice: failure.text });
  }
}
