import { findFieldError, storableText, storableValue, textError } from '#plugin-api';
import type { Request, Response } from 'express';
import type { UploadedFile } from '#plugin-api';
import type { AdminContext, SignedIn } from './dependencies.ts';
import { flattenForm } from './form.ts';
import { isSecretName } from '../log/serialise.ts';
import { adminPath } from './local-path.ts';
import type { Outcome } from './outcome.ts';
import type { RegisteredPage } from './registry.ts';
import { withoutConfirmation } from './request.ts';

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
