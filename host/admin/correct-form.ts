import { parse as parseQuery } from 'node:querystring';
import { findFieldError, storableText, storableValue, textError, translateText, withNotice } from '#plugin-api';
import type { Request, Response } from 'express';
import type { UploadedFile } from '#plugin-api';
import type { AdminContext, SignedIn } from './dependencies.ts';
import { flattenForm } from './form.ts';
import { askQuestion } from './confirm-question.ts';
import { isSecretName } from '../log/serialise.ts';
import { adminPath } from './local-path.ts';
import type { Outcome } from './outcome.ts';
import type { RegisteredPage } from './registry.ts';
import { isFromAdmin, toAdminRequest, wantsJson, withoutConfirmation } from './request.ts';
import { changedFields, shownQuery, type FieldChange, type Stamp } from './shown-forms.ts';

interface Submission {
  readonly request: Request;
  readonly response: Response;
  readonly session: SignedIn;
  readonly form: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, UploadedFile>>;
}

/** What the border for text says of a form (D54): null, or the refusal of a field with text that cannot be stored. */
export function refuseText(form: Readonly<Record<string, unknown>>): Outcome | null {
  const error = findFieldError(form);
  if (error === null) return null;
  return {
    result: { notice: { kind: 'error', text: error.message } },
    status: 400,
    code: 'rest_invalid_param',
    data: { params: { [error.name]: error.message } },
  };
}

/**
 * Shows what was typed with U+FFFD for each character that cannot be stored, and sends the form again once it is corrected.
 * Call it after the nonce was verified.
 */
export async function showCorrection(
  context: AdminContext,
  page: RegisteredPage,
  { request, response, session, form, files = {} }: Submission,
): Promise<void> {
  const { slug } = page.declaration;
  const typed = flattenForm(withoutConfirmation(form));
  const isWrong = ({ name, value }: { readonly name: string; readonly value: string }): boolean =>
    textError('', name + value) !== null;
  const html = await context.shell.full({
    request,
    page: { slug, title: 'Correct what you typed' },
    template: 'admin/correct',
    session,
    data: {
      action: request.originalUrl,
      cancel: adminPath(slug),
      fields: storableValue(typed.filter((field) => !isWrong(field))),
      wrong: typed.filter(isWrong).map(({ name, value }, index) => ({
        id: `correct-${index}`,
        name: storableText(name),
        value: isSecretName(name) ? '' : storableText(value),
        isSecret: isSecretName(name),
        error: textError(storableText(name), value) ?? textError('A member’s name', name),
      })),
      files: Object.entries(files).map(([name, file]) => ({ name, label: `Choose ${file.name} again` })),
    },
  });
  response.status(400).type('html').send(html);
}

const conflictText =
  'These fields were changed after you opened the form. Saving replaces the changes with what you entered.';

export function conflictOf(changes: readonly FieldChange[]): Outcome {
  return { result: withNotice('error', conflictText), status: 409, code: 'edit_conflict', data: { changes } };
}

export function stampOf({ request, form }: Pick<Submission, 'request' | 'form'>): Stamp | undefined {
  const { action } = request.query;
  const { _shown: shown } = form;
  return typeof action === 'string' && typeof shown === 'string' ? { action, shown } : undefined;
}

/**
 * What another save changed since the form was shown: the page is rendered again as it was opened. Two saves at the same
 * moment both succeed.
 */
export async function findChanges(
  context: AdminContext,
  page: RegisteredPage,
  { request, response, session, form }: Submission,
): Promise<readonly FieldChange[]> {
  const sent = stampOf({ request, form });
  if (!sent || form['_overwrite'] !== undefined) return [];
  const shown = toAdminRequest({
    ...{ request, response, form: {}, user: session.user, isSignInFresh: false, log: context.log },
  });
  try {
    const view = await (await page.body()).render({ ...shown, query: parseQuery(shownQuery(sent.shown)) });
    return await changedFields(await context.shell.body({ ...view, request, session, page: page.declaration }), sent);
  } catch {
    // What it edited is gone: the action says so.
    return [];
  }
}

/** Shows what another save changed, and saves the form anyway. */
export function askOverwrite(
  context: AdminContext,
  page: RegisteredPage,
  { form, ...more }: Submission & { readonly changes: readonly FieldChange[] },
): Promise<void> {
  return askQuestion(context, page, {
    ...{ ...more, form: { ...form, _overwrite: '1', _question_label: translateText('Save anyway') }, status: 409 },
    question: `${translateText('Save anyway?')} ${translateText(conflictText)}`,
  });
}

/** A form whose nonce has expired, as after a sign-in in another tab, comes back with what it holds. */
export async function refuseExpired(
  context: AdminContext,
  page: RegisteredPage,
  submission: Submission,
): Promise<void> {
  const { form, request } = submission;
  if (!wantsJson(request) && isFromAdmin(request))
    return askQuestion(context, page, {
      ...{
        ...submission,
        form: { ...form, _question_label: translateText('Send again'), _question_safe: '1' },
        status: 403,
      },
      question: translateText(
        'Send the form again? Nothing was saved, because the form had expired. What you entered is still here.',
      ),
    });
  return context.errorResponses.refuse({
    ...submission,
    status: 403,
    text: 'This form has expired or was not sent from this page. Go back, reload the page and try again.',
    code: 'rest_cookie_invalid_nonce',
  });
}
