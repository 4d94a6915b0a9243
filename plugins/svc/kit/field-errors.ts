import { RestError } from '#plugin-api';

/** A sentence for each field that cannot be saved, by its name. */
export type FieldErrors = Readonly<Record<string, string>>;

/** Nothing was saved. The message holds all sentences, so that a command line shows them too. */
export function invalidFields(errors: FieldErrors): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: Object.values(errors).join(' '),
    data: { params: errors },
  });
}

/** The errors an error carries, or null when it is another kind of error. */
export function fieldErrorsOf(error: unknown): FieldErrors | null {
  if (!(error instanceof RestError) || error.code !== 'rest_invalid_param') return null;
  const data = error.data as { readonly params?: FieldErrors } | undefined;
  return data?.params ?? null;
}
