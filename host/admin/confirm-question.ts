import { isRecord } from '#plugin-api';
import type { Request, Response } from 'express';
import type { AdminContext, SignedIn } from './dependencies.ts';
import { flattenForm, textField } from './form.ts';
import { adminPath } from './local-path.ts';
import type { RegisteredPage } from './registry.ts';
import { withoutConfirmation } from './request.ts';
import type { FieldChange } from './shown-forms.ts';
import { withStatus } from './with-status.ts';

interface Submission {
  readonly request: Request;
  readonly response: Response;
  readonly session: SignedIn;
  readonly form: Readonly<Record<string, unknown>>;
  /** It ends with the first question mark; what follows is text below it. */
  readonly question: string;
  readonly status?: number;
  /** Fields that another save changed. */
  readonly changes?: readonly FieldChange[];
}

/**
 * The question of a form that is not answered yet: the field `_question`, or the one in `_questions` for the value of `do`.
 * The script asks in a dialog and leaves these fields out. Returns '' without one.
 */
export function readQuestion(form: Readonly<Record<string, unknown>>): string {
  const { _questions: questions } = form;
  return textField(form, '_question') || (isRecord(questions) ? textField(questions, textField(form, 'do')) : '');
}

/** Asks on a separate page, for browsers without JavaScript, and sends the form again without its question. */
export async function askQuestion(
  context: AdminContext,
  page: RegisteredPage,
  { request, response, session, form, question, status = 200, changes = [] }: Submission,
): Promise<void> {
  const end = question.indexOf('?') + 1;
  const { slug } = page.declaration;
  const fields = flattenForm(withoutConfirmation(form));
  const typed = Map.groupBy(fields, ({ name }) => name.replace(/\[\d*\]$/, '[]'));
  const html = await context.shell.full({
    request,
    page: { slug, title: end === 0 ? question : question.slice(0, end) },
    template: 'admin/confirm',
    session,
    data: {
      action: request.originalUrl,
      cancel: adminPath(slug),
      isSafe: textField(form, '_question_safe') !== '',
      label: textField(form, '_question_label'),
      fields,
      changes: changes.map((change) => ({
        ...change,
        typed: (typed.get(change.name) ?? []).map(({ value }) => value).join(', '),
      })),
      text: end === 0 ? '' : question.slice(end).trim(),
    },
  });
  withStatus(response, status).type('html').send(html);
}
