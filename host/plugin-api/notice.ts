import type { AdminActionResult } from './admin.ts';
import { RestError } from './errors.ts';
import type { FieldErrors } from './forms/check.ts';
import { asRecord, isRecord } from './values.ts';

/** What an action of an admin page returns: a notice, and the other members of the result. */
export function withNotice(
  kind: NonNullable<AdminActionResult['notice']>['kind'],
  text: string,
  more: Omit<AdminActionResult, 'notice'> = {},
): AdminActionResult {
  return { ...more, notice: { kind, text } };
}

/** The error of a form or command with invalid fields. Its message contains all sentences, for the command line. */
export function invalidFields(errors: FieldErrors): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: Object.values(errors).join(' '),
    data: { params: errors },
  });
}

/** The sentences in `data.params` of an error; null if it has none. */
export function fieldErrorsOf(error: unknown): FieldErrors | null {
  const data = isRecord(error) ? error['data'] : null;
  const params = isRecord(data) ? data['params'] : null;
  const errors = Object.entries(asRecord(params)).filter(([, text]) => typeof text === 'string');
  return errors.length === 0 ? null : (Object.fromEntries(errors) as FieldErrors);
}

/**
 * Runs `save`. If it throws field errors, shows the form again: `page` with the entered values and a sentence at each field.
 * Scripts get the sentences as `data.errors`. Rethrows other errors.
 *
 * @param inputName name of the input of a field: `api_key` -> `settings[api_key]`. Default: the name of the field.
 */
export async function withFieldErrors(
  save: () => Promise<AdminActionResult>,
  page: (errors: FieldErrors) => Promise<NonNullable<AdminActionResult['page']>>,
  inputName = (name: string) => name,
): Promise<AdminActionResult> {
  try {
    return await save();
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (!errors) throw error;
    const [first = '', ...others] = Object.values(errors);
    const text = others.length === 0 ? first : 'Nothing was saved. Correct the marked fields.';
    const named = Object.entries(errors).map(([name, sentence]) => [inputName(name), sentence]);
    return withNotice('error', text, {
      page: await page(errors),
      data: { errors: Object.fromEntries(named) as FieldErrors },
      status: 400,
    });
  }
}
