import { withNotice } from '#plugin-api';
import type { Request, Response } from 'express';
import type { AdminContext, SignedIn } from './dependencies.ts';
import { toFailure } from './failure.ts';
import { flattenForm, textField } from './form.ts';
import { adminPath } from './local-path.ts';
import type { Outcome } from './outcome.ts';
import type { RegisteredPage } from './registry.ts';
import { freshSignInCode, requestId, withoutConfirmation } from './request.ts';
import { passkeyScript } from './show-login.ts';
import type { Upload } from './uploads.ts';
import { withStatus } from './with-status.ts';

interface Submission extends Partial<Upload> {
  readonly request: Request;
  readonly response: Response;
  readonly session: SignedIn;
  readonly form: Readonly<Record<string, unknown>>;
}

interface Confirmation {
  readonly isSignInFresh: boolean;
  /** Why the action does not run: the password or passkey of the form is wrong. */
  readonly refusal?: Outcome;
}

/** Verifies the fields `_password`, or `_credential` and `_challenge`, with which a user confirms who they are. */
export async function readConfirmation(
  context: AdminContext,
  { request, response, session, form }: Submission,
): Promise<Confirmation> {
  // Not trimmed: blanks are part of a password.
  const password = typeof form['_password'] === 'string' ? form['_password'] : '';
  const credential = textField(form, '_credential');
  if (password === '' && credential === '') return { isSignInFresh: context.isFresh(session) };
  const ip = request.ip ?? '';
  try {
    const isConfirmed =
      credential === ''
        ? await context.confirmPassword(session, password, ip)
        : await context.secondStep.confirm(session, { credential, challenge: textField(form, '_challenge'), ip });
    if (isConfirmed) return { isSignInFresh: true };
    const text = credential === '' ? 'Incorrect password.' : 'The passkey could not be verified. Try again.';
    return { isSignInFresh: false, refusal: refuse(403, text) };
  } catch (error) {
    const { status, text } = toFailure(error, { log: context.log, id: requestId(response) });
    return { isSignInFresh: false, refusal: refuse(status, text) };
  }
}

function refuse(status: number, text: string): Outcome {
  return { result: withNotice('error', text), status, code: freshSignInCode };
}

/** Asks for the password or a passkey, and sends the submitted form again with it. Only files have to be chosen again. */
export async function askForPassword(
  context: AdminContext,
  page: RegisteredPage,
  { request, response, session, form, files = {}, outcome }: Submission & { readonly outcome: Outcome },
): Promise<void> {
  const hasPasskey = await context.secondStep.canConfirm(session.user.id);
  const isAgain = typeof form['_password'] === 'string' || typeof form['_credential'] === 'string';
  const html = await context.shell.full({
    request,
    page: {
      slug: page.declaration.slug,
      title: 'Confirm your password',
      ...(hasPasskey && { script: `admin/${passkeyScript}` }),
    },
    template: 'admin/confirm-password',
    session,
    data: {
      action: request.originalUrl,
      cancel: adminPath(page.declaration.slug),
      login: session.user.login,
      fields: flattenForm(withoutConfirmation(form)),
      hasPasskey,
      files: Object.entries(files).map(([name, file]) => ({ name, label: `Choose ${file.name} again` })),
      error: isAgain ? outcome.result.notice?.text : undefined,
    },
  });
  withStatus(response, outcome.status).type('html').send(html);
}
