import type { Infer, JsonSchema } from '#plugin-api';
import { choice, flag, group, id, line, name, text, whole } from './setting-schemas.ts';
import { guestLimitPerDay } from './visitors/limit-counters.ts';

/** What a field of a form is, in chats and of AI forms. @param maxLabel characters of the label */
export function elementProperties<const Types extends readonly string[]>(types: Types, maxLabel: number) {
  return {
    id,
    type: { type: 'string', title: 'Type', enum: types },
    label: name({ title: 'Label' }, maxLabel),
    help: text({ title: 'Help text' }, ''),
    placeholder: line({ title: 'Placeholder' }, ''),
    required: flag({ title: 'Required' }, false),
    // Of select, radio and checkbox.
    options: {
      type: 'array',
      title: 'Options',
      default: [],
      maxItems: 300,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['value', 'label'],
        properties: { value: name({ title: 'Value' }), label: name({ title: 'Label' }) },
      },
    },
  } as const satisfies Readonly<Record<string, JsonSchema>>;
}

/** Limits of visitors: `limit` returns the members of one. Guests are counted by session and by IP address. */
export function visitorLimits<const Limit extends JsonSchema>(
  limit: (title: string, amount: number) => Limit,
  message: string,
) {
  return {
    guest: limit('Guests', guestLimitPerDay),
    user: limit('Signed-in users', 0),
    // Instead of the limit of users. For several roles, the most generous limit applies.
    roles: {
      type: 'object',
      title: 'By role',
      default: {},
      additionalProperties: limit('Role', 0),
      maxProperties: 50,
    },
    message: text({ title: 'Message at the limit', ui: { rows: 2 } }, message),
  } as const;
}

/** A limit in the site's time zone; weeks start on Monday. @param unit what `amount` counts, 0: no limit */
export function visitorLimit<const Members extends Readonly<Record<string, JsonSchema>>>(
  title: string,
  { amount, unit, members }: { readonly amount: number; readonly unit: string; readonly members: Members },
) {
  const labels = { day: 'per day', week: 'per week', month: 'per month' };
  return group(
    { title },
    {
      amount: whole({ title: `${title}: ${unit}` }, amount, [0, 1_000_000_000]),
      ...members,
      per: choice({ title: `${title}: period`, ui: { labels } }, ['day', 'week', 'month']),
    },
  );
}

export type ElementOption = Infer<ReturnType<typeof elementProperties>['options']>[number];

export interface EntryElement {
  /** `textarea`, `number`, `select`, `radio` or `checkbox`; everything else is a line of text. */
  readonly type: string;
  readonly label: string;
  readonly required: boolean;
  readonly options: readonly ElementOption[];
  /** Bounds of a number, of the characters of a text, or of the selected options. */
  readonly min?: number | null;
  readonly max?: number | null;
}

/** The value of an element and its display text, or one sentence about what is wrong. */
export type ReadEntry<Value = string | number | readonly string[] | null> =
  { readonly value: Value; readonly display: string } | { readonly error: string };

/**
 * Reads what a browser sends for an element: text, a number, or the list of selected values. An empty number is null.
 *
 * @param longest characters of a line and of a text without `max`
 */
export function readEntry(
  element: EntryElement,
  given: unknown,
  longest: { readonly line: number; readonly text: number },
): ReadEntry {
  if (element.type === 'checkbox') return readTicked(element, given);
  const { type, label, required, options } = element;
  const typed = toText(given);
  if (typed === '')
    return required ? { error: `${label} is required.` } : { value: type === 'number' ? null : '', display: '' };
  if (type === 'number') return readNumber(element, typed);
  if (type === 'select' || type === 'radio') {
    const option = options.find(({ value }) => value === typed);
    return option
      ? { value: option.value, display: option.label }
      : { error: `${label} must be one of: ${joinLabels(options)}.` };
  }
  if (typed === null) return { error: `${label} must be text.` };
  return readText(element, typed, type === 'textarea' ? longest.text : longest.line);
}

function readText({ type, label, min = null, max = null }: EntryElement, typed: string, longest: number): ReadEntry {
  const length = [...typed].length;
  const most = max ?? longest;
  const bounds = (words: string): ReadEntry => ({
    error: `${label} must have ${words} characters, not ${String(length)}.`,
  });
  if (length > most) return bounds(`at most ${String(most)}`);
  if (min !== null && length < min) return bounds(`at least ${String(min)}`);
  if (type !== 'textarea' && /[\r\n]/.test(typed)) return { error: `${label} must be a single line.` };
  const plain = typed.replaceAll('\r\n', '\n');
  return { value: plain, display: plain };
}

function readNumber({ label, min = null, max = null }: EntryElement, typed: string | null): ReadEntry {
  const number = typed === null ? Number.NaN : Number(/^-?\d+,\d+$/.test(typed) ? typed.replace(',', '.') : typed);
  if (!Number.isFinite(number)) return { error: `${label} must be a number.` };
  if (min !== null && number < min) return { error: `${label} must be ${String(min)} or more.` };
  if (max !== null && number > max) return { error: `${label} must be ${String(max)} or less.` };
  return { value: number, display: String(number) };
}

function readTicked({ label, required, options, min = null, max = null }: EntryElement, given: unknown): ReadEntry {
  const list =
    given === undefined || given === null || given === '' ? [] : Array.isArray(given) ? (given as unknown[]) : [given];
  const chosen = options.filter(({ value }) => list.includes(value));
  if (list.some((value) => !options.some((option) => option.value === value)))
    return { error: `${label} allows only: ${joinLabels(options)}.` };
  if (chosen.length === 0) return required ? { error: `${label} is required.` } : { value: [], display: '' };
  if (min !== null && chosen.length < min) return { error: `${label}: select at least ${String(min)}.` };
  if (max !== null && chosen.length > max) return { error: `${label}: select at most ${String(max)}.` };
  return { value: chosen.map(({ value }) => value), display: joinLabels(chosen) };
}

/** The trimmed text; a number becomes text, a missing value an empty text. Null for all other values. */
function toText(given: unknown): string | null {
  if (given === undefined || given === null) return '';
  if (typeof given === 'number') return String(given);
  // PostgreSQL cannot store NUL.
  return typeof given === 'string' ? given.replaceAll('\u0000', '').trim() : null;
}

function joinLabels(options: readonly ElementOption[]): string {
  return options.map(({ label }) => label).join(', ');
}
