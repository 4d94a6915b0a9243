import type { AdminActionResult } from '#plugin-api';
import { fieldErrorsOf, type FieldErrors } from '../kit/field-errors.ts';

export interface WithFieldErrorsInit {
  /** Puts a field's name into the form's own: `api_key` -> `settings[api_key]`. */
  readonly inputName: (name: string) => string;
  /** The page with the form as it was typed. */
  readonly page: (errors: FieldErrors) => Promise<NonNullable<AdminActionResult['page']>>;
}

/**
 * Runs `save`; where it throws invalid fields, answers the page again with a sentence at each of them, and for callers
 * with JavaScript `data.errors` by input name. Other errors pass.
 */
export async function withFieldErrors(
  save: () => Promise<AdminActionResult>,
  init: WithFieldErrorsInit,
): Promise<AdminActionResult> {
  try {
    return await save();
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (!errors) throw error;
    const sentences = Object.values(errors);
    const text =
      sentences.length === 1 && sentences[0] !== undefined
        ? sentences[0]
        : 'Nothing was saved. Correct the marked fields.';
    return {
      notice: { kind: 'error', text },
      page: await init.page(errors),
      data: {
        errors: Object.fromEntries(Object.entries(errors).map(([name, sentence]) => [init.inputName(name), sentence])),
      },
      status: 400,
    };
  }
}
