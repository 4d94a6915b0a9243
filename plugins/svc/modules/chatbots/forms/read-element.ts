import type { User } from '#plugin-api';
import type { FormElement, FormOption } from './form.ts';

export type ElementValue = string | number | boolean | readonly string[];

/** The value of an element and its display text, or one sentence about what is wrong. */
export type ReadElement = { readonly value: ElementValue; readonly display: string } | { readonly error: string };

/** What fills hidden elements. The page reports address and title; the user is the one that the server recognizes. */
export interface HiddenFacts {
  /** A web address, or empty if the page reported none. */
  readonly pageUrl: string;
  readonly pageTitle: string;
  /** Id 0 for a guest. */
  readonly user: Pick<User, 'id' | 'displayName' | 'email'>;
}

const maxLineLength = 500;
const maxTextLength = 10_000;
const maxAddressLength = 2_000;

/**
 * Reads the value of one element as a browser sends it: text, number, a list of selected values, or true for consent.
 * Hidden elements are filled from the facts, whatever the browser sends.
 */
export function readElement(element: FormElement, input: unknown, facts: HiddenFacts): ReadElement {
  switch (element.type) {
    case 'checkbox':
      return readTicked(element, input);
    case 'consent':
      return readConsent(element, input);
    case 'select':
    case 'radio':
      return readChosen(element, input);
    case 'number':
      return readNumber(element, input);
    case 'text':
    case 'textarea':
    case 'email':
    case 'phone':
      return readText(element, input);
    case 'hidden':
      return readHidden(element.source, facts);
  }
}

function readText(element: FormElement, input: unknown): ReadElement {
  const text = toLine(input);
  if (text === null) return { error: `${element.label} must be a text.` };
  if (text === '') return empty(element, '');
  const limit = element.type === 'textarea' ? maxTextLength : maxLineLength;
  if (text.length > limit) return { error: `${element.label} may have at most ${limit} characters.` };
  if (element.type !== 'textarea' && /[\r\n]/.test(text)) return { error: `${element.label} must be a single line.` };
  if (element.type === 'email' && !isEmail(text))
    return { error: 'Enter a valid email address, like ada@example.com.' };
  if (element.type === 'phone' && !isPhone(text)) return { error: 'Enter a valid phone number, like +47 22 33 44 55.' };
  return { value: text, display: text };
}

function readNumber(element: FormElement, input: unknown): ReadElement {
  const text = toLine(input);
  if (text === '') return empty(element, '');
  const number = text === null ? Number.NaN : Number(/^-?\d+,\d+$/.test(text) ? text.replace(',', '.') : text);
  if (!Number.isFinite(number)) return { error: `${element.label} must be a number.` };
  return { value: number, display: String(number) };
}

function readChosen(element: FormElement, input: unknown): ReadElement {
  const text = toLine(input);
  if (text === '') return empty(element, '');
  const option = element.options.find(({ value }) => value === text);
  if (!option) return { error: `${element.label} must be one of: ${joinLabels(element.options)}.` };
  return { value: option.value, display: option.label };
}

function readTicked(element: FormElement, input: unknown): ReadElement {
  const list =
    input === undefined || input === null || input === '' ? [] : Array.isArray(input) ? (input as unknown[]) : [input];
  if (list.length === 0) return empty(element, []);
  const chosen = element.options.filter(({ value }) => list.includes(value));
  if (list.some((value) => !element.options.some((option) => option.value === value)))
    return { error: `${element.label} must contain only: ${joinLabels(element.options)}.` };
  return { value: chosen.map(({ value }) => value), display: joinLabels(chosen) };
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

function empty(element: FormElement, value: ElementValue): ReadElement {
  return element.required ? { error: `${element.label} is required.` } : { value, display: '' };
}

/** The trimmed text; a number becomes text, a missing value an empty text. Null for all other values. */
function toLine(input: unknown): string | null {
  if (input === undefined || input === null) return '';
  if (typeof input === 'number') return String(input);
  // PostgreSQL cannot store NUL.
  return typeof input === 'string' ? input.replaceAll('\u0000', '').trim() : null;
}

function joinLabels(options: readonly FormOption[]): string {
  return options.map(({ label }) => label).join(', ');
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
