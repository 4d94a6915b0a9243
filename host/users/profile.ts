import { isUrl, normalizeText, type UserProfile } from '#plugin-api';

export interface ProfileRow {
  readonly first_name: string;
  readonly last_name: string;
  readonly nickname: string;
  readonly description: string;
  readonly url: string;
  readonly locale: string;
  readonly slug: string;
}

export const profileColumns: Readonly<Record<keyof UserProfile, keyof ProfileRow>> = {
  firstName: 'first_name',
  lastName: 'last_name',
  nickname: 'nickname',
  description: 'description',
  url: 'url',
  locale: 'locale',
  slug: 'slug',
};

const members = Object.keys(profileColumns) as (keyof UserProfile)[];

export function toProfile(row: ProfileRow): UserProfile {
  const { first_name: firstName, last_name: lastName, nickname, description, url, locale, slug } = row;
  return { firstName, lastName, nickname, description, url, locale, slug };
}

export function toColumns(profile: Partial<UserProfile>): Partial<ProfileRow> {
  return Object.fromEntries(
    members
      .filter((member) => profile[member] !== undefined)
      .map((member) => [profileColumns[member], profile[member]]),
  );
}

/** Normalizes the given members: removes surrounding spaces and control characters, and converts the slug. */
export function cleanProfile(profile: Partial<UserProfile>): Partial<UserProfile> {
  const clean = (member: keyof UserProfile, text: string): string => {
    if (member === 'slug') return slugOf(text);
    return member === 'description'
      ? text
          .replace(/\r\n?/g, '\n')
          .replace(/[^\P{Cc}\n\t]+/gu, ' ')
          .trim()
      : text.replace(/\p{Cc}+/gu, ' ').trim();
  };
  return Object.fromEntries(
    members.flatMap((member) => {
      const text = profile[member];
      return text === undefined ? [] : [[member, clean(member, text)]];
    }),
  );
}

/** A locale in WordPress's spelling, such as `de_DE_formal`, or empty. */
export const localePattern = '^([a-z]{2,3}(_[A-Z][a-z]{3})?(_[A-Z]{2})?(_[a-z0-9]{2,16})?)?$';

/** Validates a normalized profile. Returns messages by column. */
export function profileErrors(profile: Partial<UserProfile>): Record<string, string> {
  const { url, locale, slug, description } = profile;
  const long = members.filter((member) => member !== 'description' && (profile[member] ?? '').length > 250);
  return {
    ...Object.fromEntries(long.map((member) => [profileColumns[member], 'Use at most 250 characters.'])),
    ...((description ?? '').length > 10_000 && { description: 'Use at most 10,000 characters.' }),
    ...(profile.nickname === '' && { nickname: 'Enter a nickname.' }),
    ...(url !== undefined &&
      url !== '' &&
      !isWebAddress(url) && { url: 'Enter a URL like https://example.com, or leave empty.' }),
    ...(locale !== undefined &&
      !new RegExp(localePattern).test(locale) && {
        locale: 'Enter a language like en_US or de_DE, or leave empty to use that of the site.',
      }),
    ...(slug === '' && { slug: 'Use at least one letter or digit.' }),
  };
}

/** Converts text to the URL name of a user: lowercase ASCII letters, digits, `_` and `-`. May be empty. */
export function slugOf(text: string): string {
  return normalizeText(text, 'NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Returns the preferred slug, or the first free one with a number appended. */
export function findFreeSlug(preferred: string, taken: ReadonlySet<string>): string {
  const base = preferred || 'user';
  for (let number = 1; ; number += 1) {
    const slug = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s"'<>]+$/i.test(text) && isUrl(text);
}
