import type { User } from '#plugin-api';
import { readEntry, type ReadEntry } from '../../../kit/form-elements.ts';
import type { FormElement } from './form.ts';

export type ElementValue = string | number | boolean | readonly string[];

export type ReadElement = ReadEntry<ElementValue>;

/** What fills hidden elements. The page reports address and title; the user is the one that the server recognizes. */
export interface HiddenFacts {
  /** A web address, or empty if the page reported none. */
  readonly pageUrl: string;
  readonly pageTitle: string;
  /** Id 0 for a guest. */
  readonly user: Pick<User, 'id' | 'displayName' | 'email'>;
}

const maxLineLength = 500;
const longest = { line: maxLineLength, text: 10_000 };
const maxAddressLength = 2_000;

/**
 * Reads the value of one element as a browser sends it: text, number, a list of selected values, or true for consent.
 * Hidden elements are filled from the facts, whatever the browser sends.
 */
export function readElement(element: FormElement, input: unknown, facts: HiddenFacts): ReadElement {
  if (element.type === 'consent') return readConsent(element, input);
  if (element.type === 'hidden') return readHidden(element.source, facts);
  const read = readEntry(element, input, longest);
  if ('error' in read) return read;
  const { value, display } = read;
  if (element.type === 'email' && display !== '' && !isEmail(display))
    return { error: 'Enter a valid email address, like ada@example.com.' };
  if (element.type === 'phone' && display !== '' && !isPhone(display))
    return { error: 'Enter a valid phone number, like +47 22 33 44 55.' };
  return { value: value ?? '', display };
}

function readConsent(element: FormElement, input: unknown): ReadElement {
  const agreed = input === true || input === 'true' || input === 'on' || input === '1' || input === 'yes';
  const declined =
    input === undefined ||
    input === null ||
    input === false ||
    input === '' ||
    input === 'false' ||
    input === '0' ||
    input === 'no';
  if (!agreed && !declined) return { error: `${element.label} must be true or false.` };
  if (!agreed && element.required) return { error: `Please agree: ${element.label}` };
  return { value: agreed, display: agreed ? 'Yes' : 'No' };
}

function isEmail(text: string): boolean {
  // Like the check of browsers, but the domain needs a dot: user@localhost cannot be reached.
  const [local = '', domain = '', ...more] = text.split('@');
  return (
    text.length <= 254 &&
    more.length === 0 &&
    /^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u.test(local) &&
    /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?)+$/u.test(domain)
  );
}

function isPhone(text: string): boolean {
  const digits = text.replace(/\D/g, '').length;
  return /^\+?[\d\s().\-/]+(?:\s?(?:x|ext\.?)\s?\d+)?$/i.test(text) && digits >= 5 && digits <= 20;
}

/**
 * The value of a hidden element as one line: an address of at most 2,000 characters, anything else of at most 500. Longer
 * values are cut, because visitors cannot correct them. Empty if there is none, for example the name of a guest.
 */
function readHidden(source: string, facts: HiddenFacts): { readonly value: string; readonly display: string } {
  const value = toBoundedLine(findValue(source, facts), source === 'page_url' ? maxAddressLength : maxLineLength);
  return { value, display: value };
}

function findValue(source: string, { pageUrl, pageTitle, user }: HiddenFacts): string {
  if (source.startsWith('query:')) return findParameter(pageUrl, source.slice('query:'.length));
  switch (source) {
    case 'page_url':
      return pageUrl;
    case 'page_title':
      return pageTitle;
    case 'user_id':
      return user.id > 0 ? String(user.id) : '';
    case 'user_name':
      return user.id > 0 ? user.displayName : '';
    case 'user_email':
      return user.id > 0 ? user.email : '';
    default:
      return '';
  }
}

function findParameter(pageUrl: string, name: string): string {
  return (pageUrl === '' ? null : new URL(pageUrl).searchParams.get(name)) ?? '';
}

/** Without NUL, which PostgreSQL cannot store, other control characters and single surrogates. */
function toBoundedLine(text: string, limit: number): string {
  return text
    .replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, limit)
    .replace(/[\uD800-\uDBFF]$/, '');
}
