import type { Request, Response } from 'express';
import type { AdminContext } from './context.ts';
import type { SignedIn } from './dependencies.ts';
import { toFailure } from './failure.ts';
import { flattenForm } from './form.ts';
import { adminPath } from './local-path.ts';
import type { Outcome } from './outcome.ts';
import type { RegisteredPage } from './registry.ts';
import { freshSignInCode, requestId } from './request.ts';
import type { Upload } from './uploads.ts';

interface Submission extends Partial<Upload> {
  readonly request: Request;
  readonly response: Response;
  readonly session: SignedIn;
  readonly form: Readonly<Record<string, unknown>>;
}

interface Confirmation {
  readonly isSignInFresh: boolean;
  /** Why the action does not run: the password of the form is wrong. */
  readonly refusal?: Outcome;
}

/** Verifies the field `_password`, with which a form may confirm the password of its user. */
export async function readConfirmation(
  context: AdminContext,
  { request, response, session, form }: Submission,
): Promise<Confirmation> {
  const password = form['_password'];
  if (typeof password !== 'string' || password === '') return { isSignInFresh: context.isFresh(session) };
  try {
    if (await context.confirmPassword(session, password, request.ip ?? '')) return { isSignInFresh: true };
    return { isSignInFresh: false, refusal: refuse(403, 'Incorrect password.') };
  } catch (error) {
    const { status, text } = toFailure(error, { log: context.log, id: requestId(response) });
    return { isSignInFresh: false, refusal: refuse(status, text) };
  }
}

function refuse(status: number, text: string): Outcome {
  return { result: { notice: { kind: 'error', text } }, status, code: freshSignInCode };
}

/** Asks for the password, and sends the submitted form again with it. Only files have to be chosen again. */
export async function askForPassword(
  context: AdminContext,
  page: RegisteredPage,
  { request, response, session, form, files = {}, outcome }: Submission & { readonly outcome: Outcome },
): Promise<void> {
  const { _nonce, _password, ...fields } = form;
  const html = await context.shell.full({
    page: { slug: page.declaration.slug, title: 'Confirm your password' },
    template: 'admin/confirm-password',
    session,
    data: {
      action: request.originalUrl,
      cancel: adminPath(page.declaration.slug),
      login: session.user.login,
      fields: flattenForm(fields),
      files: Object.entries(files).map(([name, file]) => ({ name, label: `Choose ${file.name} again` })),
      error: typeof _password === 'string' ? outcome.result.notice?.text : undefined,
    },
  });
  response.status(outcome.status).type('html').send(html);
}
