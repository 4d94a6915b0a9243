import type { FormElement, FormOption } from './form.ts';

export type ElementValue = string | number | boolean | readonly string[];

/** The value of an element and its display text, or one sentence about what is wrong. */
export type ReadElement = { readonly value: ElementValue; readonly display: string } | { readonly error: string };

const maxLineLength = 500;
const maxTextLength = 10_000;

/** Reads the value of one element as a browser sends it: text, number, a list of selected values, or true for consent. */
export function readElement(element: FormElement, given: unknown): ReadElement {
  switch (element.type) {
    case 'checkbox':
      return readTicked(element, given);
    case 'consent':
      return readConsent(element, given);
    case 'select':
    case 'radio':
      return readChosen(element, given);
    case 'number':
      return readNumber(element, given);
    case 'text':
    case 'textarea':
    case 'email':
    case 'phone':
      return readText(element, given);
  }
}

function readText(element: FormElement, given: unknown): ReadElement {
  const text = toLine(given);
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

function readNumber(element: FormElement, given: unknown): ReadElement {
  const text = toLine(given);
  if (text === '') return empty(element, '');
  const number = text === null ? Number.NaN : Number(/^-?\d+,\d+$/.test(text) ? text.replace(',', '.') : text);
  if (!Number.isFinite(number)) return { error: `${element.label} must be a number.` };
  return { value: number, display: String(number) };
}

function readChosen(element: FormElement, given: unknown): ReadElement {
  const text = toLine(given);
  if (text === '') return empty(element, '');
  const option = element.options.find(({ value }) => value === text);
  if (!option) return { error: `${element.label} must be one of: ${joinLabels(element.options)}.` };
  return { value: option.value, display: option.label };
}

function readTicked(element: FormElement, given: unknown): ReadElement {
  const list =
    given === undefined || given === null || given === '' ? [] : Array.isArray(given) ? (given as unknown[]) : [given];
  if (list.length === 0) return empty(element, []);
  const chosen = element.options.filter(({ value }) => list.includes(value));
  if (list.some((value) => !element.options.some((option) => option.value === value)))
    return { error: `${element.label} must contain only: ${joinLabels(element.options)}.` };
  return { value: chosen.map(({ value }) => value), display: joinLabels(chosen) };
}

function readConsent(element: FormElement, given: unknown): ReadElement {
  const agreed = given === true || given === 'true' || given === 'on' || given === '1' || given === 'yes';
  const declined =
    given === undefined ||
    given === null ||
    given === false ||
    given === '' ||
    given === 'false' ||
    given === '0' ||
    given === 'no';
  if (!agreed && !declined) return { error: `${element.label} must be true or false.` };
  if (!agreed && element.required) return { error: `Please agree: ${element.label}` };
  return { value: agreed, display: agreed ? 'Yes' : 'No' };
}

function empty(element: FormElement, value: ElementValue): ReadElement {
  return element.required ? { error: `${element.label} is required.` } : { value, display: '' };
}

/** The trimmed text; a number becomes text, a missing value an empty text. Null for all other values. */
function toLine(given: unknown): string | null {
  if (given === undefined || given === null) return '';
  if (typeof given === 'number') return String(given);
  // PostgreSQL cannot store NUL.
  return typeof given === 'string' ? given.replaceAll('\u0000', '').trim() : null;
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
