import type { JsonSchema } from '../schema.ts';
import { choicesOf, fieldKind, listLeaves, putAt, typesOf, valueAt } from './paths.ts';

export interface ReadFormInit {
  /** As in `formFields`. */
  readonly group?: string;
  readonly paths?: readonly string[];
}

/**
 * The values of a posted form in the types of the schema. A field that is not posted is left out, and a number that is none
 * stays text, so that the check refuses it and the form shows it again. An emptied number or choice is the default.
 */
export function readForm(
  schema: JsonSchema,
  form: Readonly<Record<string, unknown>>,
  { group = '', paths }: ReadFormInit = {},
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const posted = group === '' ? form : valueAt(form, group);
  for (const { path, schema: member } of listLeaves(schema, paths)) {
    const value = readValue(member, valueAt(posted, path));
    if (value !== undefined) putAt(values, path.split('.'), value);
  }
  return values;
}

/** The value that a person typed, in the type of its schema. Values other than text stay. */
export function readValue(schema: JsonSchema, typed: unknown): unknown {
  const kind = fieldKind(schema);
  // The form posts an empty choice too, so that all can be cleared.
  if (Array.isArray(typed)) return kind === 'lines' ? readList(schema, typed) : typed.filter((one) => one !== '');
  if (typeof typed !== 'string') return typed;
  const text = typed.replaceAll('\r\n', '\n');
  switch (kind) {
    case 'switch':
      return ['1', 'true', 'on'].includes(text.trim());
    case 'number':
      return readNumber(text) ?? emptyValue(schema);
    case 'select':
      return readChoice(schema, text);
    case 'lines':
      return readList(schema, text.split('\n'));
    case 'json':
      return text.trim() === '' ? emptyValue(schema) : readJson(text);
    case 'textarea':
      return text;
    default:
      return text.trim() === '' && typesOf(schema).includes('null') ? null : text.trim();
  }
}

/** Undefined if empty. An invalid number stays text. */
export function readNumber(typed: string): number | string | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The trimmed lines that are not blank. */
export function readLines(typed: string): string[] {
  return readList({}, typed.split(/\r?\n/)) as string[];
}

/** White space matters where one text may stand for the list, as in stop sequences. */
function readList(schema: JsonSchema, lines: readonly unknown[]): unknown {
  const isTextToo = schema.anyOf !== undefined;
  const list = lines
    .map((line) => (typeof line === 'string' && !isTextToo ? line.trim() : line))
    .filter((line) => line !== '');
  if (!isTextToo) return list;
  return list.length > 1 ? list : list[0];
}

function readChoice(schema: JsonSchema, typed: string): unknown {
  const found = (choicesOf(schema) ?? []).find((value) => String(value ?? '') === typed.trim());
  if (found !== undefined) return found;
  return typed === '' ? emptyValue(schema) : typed;
}

function emptyValue(schema: JsonSchema): unknown {
  return typesOf(schema).includes('null') ? null : schema.default;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
