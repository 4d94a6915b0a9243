import type { AdminActionResult, AdminRequest, User, UserProfile } from '#plugin-api';

/** Fields of the form in which people tell about themselves, by the member they are stored as. */
const fields: Readonly<Record<keyof UserProfile, string>> = {
  firstName: 'first_name',
  lastName: 'last_name',
  nickname: 'nickname',
  url: 'url',
  description: 'description',
  slug: 'slug',
  locale: 'locale',
};

/** What was typed; fields that the form does not have are left out. */
export function typedAbout(request: AdminRequest): Partial<UserProfile> {
  const given = Object.entries(fields).filter(([, field]) => typeof request.form[field] === 'string');
  // Lines of the description stay as they are.
  return Object.fromEntries(
    given.map(([member, field]) => [
      member,
      field === 'description' ? passwordOf(request, field) : textOf(request, field),
    ]),
  );
}

/** Data of the partial `admin/pages/user-about`. */
export function aboutData(
  user: User,
  { typed, faults }: { readonly typed: Partial<UserProfile> | undefined; readonly faults: Faults },
): Record<string, unknown> {
  const values: Partial<UserProfile> = { ...user.profile, ...typed };
  return { values, faults };
}

/** A text of the posted form, trimmed; empty when it is missing. */
export function textOf({ form }: Pick<AdminRequest, 'form'>, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** A password as it was typed, blanks included. */
export function passwordOf({ form }: Pick<AdminRequest, 'form'>, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value : '';
}

/** A text of the address, trimmed; empty when it is missing. */
export function queryOf({ query }: Pick<AdminRequest, 'query'>, name: string): string {
  const value = query[name];
  return typeof value === 'string' ? value.trim() : '';
}

/** A whole number from 1 of the address or a form; 0 when it is none. */
export function numberOf(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : 0;
}

export function success(text: string, more: Omit<AdminActionResult, 'notice'> = {}): AdminActionResult {
  return { ...more, notice: { kind: 'success', text } };
}

/** Sentences by field. */
export type Faults = Readonly<Record<string, string>>;

/**
 * Runs `save`. Where it throws an error about fields, the form comes back as it was typed with a sentence at each;
 * callers with JavaScript get the sentences as `data.faults`. Other errors pass.
 */
export async function saveOrExplain(
  save: () => Promise<AdminActionResult>,
  page: (faults: Faults) => Promise<NonNullable<AdminActionResult['page']>>,
): Promise<AdminActionResult> {
  try {
    return await save();
  } catch (error) {
    const faults = faultsOf(error);
    if (faults === null) throw error;
    const [first = '', ...others] = Object.values(faults);
    const text = others.length === 0 ? first : 'Nothing was saved. Correct the marked fields.';
    return { notice: { kind: 'error', text }, page: await page(faults), data: { faults }, status: 400 };
  }
}

/** The sentences of an error that names fields in `data.params`, or null. */
export function faultsOf(error: unknown): Faults | null {
  const data = typeof error === 'object' && error !== null && 'data' in error ? error.data : null;
  const params = typeof data === 'object' && data !== null && 'params' in data ? data.params : null;
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return null;
  const faults = Object.entries(params).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return faults.length === 0 ? null : Object.fromEntries(faults);
}
