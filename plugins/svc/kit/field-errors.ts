import { RestError, type FieldErrors } from '#plugin-api';

export type { FieldErrors };

/** Errors by the path of the member, such as `embed.allowed_domains[1]`, while they are collected. */
export type SettingErrors = Record<string, string>;

/** The error of a form or command with invalid fields. Its message contains all sentences, for the command line. */
export function invalidFields(errors: FieldErrors): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: Object.values(errors).join(' '),
    data: { params: errors },
  });
}

/** The field errors of an error from `invalidFields`; null for other errors. */
export function fieldErrorsOf(error: unknown): FieldErrors | null {
  if (!(error instanceof RestError) || error.code !== 'rest_invalid_param') return null;
  const data = error.data as { readonly params?: FieldErrors } | undefined;
  return data?.params ?? null;
}

/** An error for each value that occurs earlier in the list. `member`: the member of an item that has the value. */
export function duplicateErrors(path: string, values: readonly string[], member = 'id'): SettingErrors {
  const errors: SettingErrors = {};
  values.forEach((value, at) => {
    if (values.indexOf(value) === at) return;
    const here = `${path}[${String(at)}].${member}`;
    errors[here] = `${here} is the same as that of ${path}[${String(values.indexOf(value))}].`;
  });
  return errors;
}

/** An error for each invalid value. `errorOf` returns the end of the sentence after the path, without the full stop, or null. */
export function listErrors(
  path: string,
  values: readonly string[],
  errorOf: (value: string) => string | null,
): SettingErrors {
  return Object.fromEntries(
    values.flatMap((value, at) => {
      const error = errorOf(value);
      return error === null ? [] : [[`${path}[${String(at)}]`, `${path}[${String(at)}] ${error}.`]];
    }),
  );
}
