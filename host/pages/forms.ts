import type { AdminRequest, FieldErrors, User, UserProfile } from '#plugin-api';

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
export function profileFormData(user: User, { typed, errors, locales }: ProfileForm): Record<string, unknown> {
  const values: Partial<UserProfile> = { ...user.profile, ...typed };
  const { locale = '' } = values;
  const known = [{ value: '', label: 'Language of the site' }, ...storedLanguage(locales, locale)];
  const isKnown = known.some(({ value }) => value === locale);
  return { values, errors, languages: isKnown ? known : [...known, { value: locale, label: locale }] };
}

/** The languages to choose from. The one that serves a stored locale, as German serves `de_DE`, has that as its value. */
export function storedLanguage(
  locales: ProfileForm['locales'],
  stored: string,
): readonly { readonly value: string; readonly label: string }[] {
  const [base] = stored.split('_');
  if (locales.some(({ value }) => value === stored)) return locales;
  return locales.map(({ value, label }) => ({ value: value === base ? stored : value, label }));
}

interface ProfileForm {
  readonly typed: Partial<UserProfile> | undefined;
  readonly errors: FieldErrors;
  readonly locales: readonly { readonly value: string; readonly label: string }[];
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
