import { type AdminActionResult, withNotice } from '#plugin-api';
import { fieldErrorsOf, type FieldErrors } from '../kit/field-errors.ts';

export interface WithFieldErrorsInit {
  /** Name of the input of a field: `api_key` -> `settings[api_key]`. */
  readonly inputName: (name: string) => string;
  /** The page with the entered values and the errors. */
  readonly page: (errors: FieldErrors) => Promise<NonNullable<AdminActionResult['page']>>;
}

/**
 * Runs `save`. If it throws field errors, returns the page with a sentence at each field, and `data.errors` by input name for
 * scripts. Other errors are rethrown.
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
    return withNotice('error', text, {
      page: await init.page(errors),
      data: {
        errors: Object.fromEntries(Object.entries(errors).map(([name, sentence]) => [init.inputName(name), sentence])),
      },
      status: 400,
    });
  }
}
