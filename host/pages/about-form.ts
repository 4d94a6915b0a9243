import type { AdminRequest, User, UserProfile } from '#plugin-api';
import { passwordOf, textOf, type Faults } from './forms.ts';

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
