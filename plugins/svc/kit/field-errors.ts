import { RestError } from '#plugin-api';

/** A sentence for each invalid field, by its name. */
export type FieldErrors = Readonly<Record<string, string>>;

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
