import { type AdminActionResult, type AdminRequest, type User, type UserProfile, withNotice } from '#plugin-api';

/** Names of the profile form fields by stored member. */
const fields: Readonly<Record<keyof UserProfile, string>> = {
  firstName: 'first_name',
  lastName: 'last_name',
  nickname: 'nickname',
  url: 'url',
  description: 'description',
  slug: 'slug',
  locale: 'locale',
};

/** Reads the profile fields of the form. Omits fields that the form does not contain. */
export function readProfile(request: AdminRequest): Partial<UserProfile> {
  const given = Object.entries(fields).filter(([, field]) => typeof request.form[field] === 'string');
  // The description keeps its line breaks.
  return Object.fromEntries(
    given.map(([member, field]) => [
      member,
      field === 'description' ? readRawText(request, field) : readText(request, field),
    ]),
  );
}

/** Data of the partial `admin/pages/user-about`. */
export function profileFormData(
  user: User,
  { typed, errors }: { readonly typed: Partial<UserProfile> | undefined; readonly errors: FieldErrors },
): Record<string, unknown> {
  const values: Partial<UserProfile> = { ...user.profile, ...typed };
  return { values, errors };
}

/** A text field of the posted form, trimmed. Empty when it is missing. */
export function readText({ form }: Pick<AdminRequest, 'form'>, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** A text field including leading and trailing spaces, such as a password. */
export function readRawText({ form }: Pick<AdminRequest, 'form'>, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value : '';
}

/** A query parameter, trimmed. Empty when it is missing. */
export function readQuery({ query }: Pick<AdminRequest, 'query'>, name: string): string {
  const value = query[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** Parses a positive integer from a query or form. Returns 0 for anything else. */
export function parseId(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : 0;
}

/** Messages by field. */
export type FieldErrors = Readonly<Record<string, string>>;

/**
 * Runs `save`. If it throws an error about fields, shows the form again with the entered values and a message at each
 * field. Scripts get the messages as `data.errors`. Rethrows other errors.
 */
export async function withFieldErrors(
  save: () => Promise<AdminActionResult>,
  page: (errors: FieldErrors) => Promise<NonNullable<AdminActionResult['page']>>,
): Promise<AdminActionResult> {
  try {
    return await save();
  } catch (error) {
    const errors = readFieldErrors(error);
    if (errors === null) throw error;
    const [first = '', ...others] = Object.values(errors);
    const text = others.length === 0 ? first : 'Nothing was saved. Correct the marked fields.';
    return withNotice('error', text, { page: await page(errors), data: { errors }, status: 400 });
  }
}

/** The messages of an error with fields in `data.params`, or null. */
export function readFieldErrors(error: unknown): FieldErrors | null {
  const data = typeof error === 'object' && error !== null && 'data' in error ? error.data : null;
  const params = typeof data === 'object' && data !== null && 'params' in data ? data.params : null;
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return null;
  const errors = Object.entries(params).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return errors.length === 0 ? null : Object.fromEntries(errors);
}
