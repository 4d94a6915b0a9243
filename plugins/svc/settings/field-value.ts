import { isUrl, type JsonSchema, trimTrailingSlashes } from '#plugin-api';

export type FieldReading = { readonly value: unknown } | { readonly error: string };

/** The label of a setting: its title, otherwise its name with spaces. */
export function fieldLabel(name: string, schema: JsonSchema): string {
  const text = name.replaceAll('_', ' ');
  return schema.title ?? text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whether a field has several lines: a list of strings, or a string or such a list. */
export function isListField(schema: JsonSchema): boolean {
  return schema.anyOf?.some((branch) => branch.type === 'array') ?? schema.type === 'array';
}

/**
 * Reads an entered value by the schema of its setting. An empty field is undefined: the setting is not set. A value that does
 * not fit returns one sentence that says what to enter instead.
 */
export function readFieldValue(name: string, schema: JsonSchema, raw: unknown): FieldReading {
  const label = fieldLabel(name, schema);
  if (raw === undefined || raw === null) return { value: undefined };
  if (schema.type === 'boolean') return { value: raw === true || raw === 'true' || raw === '1' || raw === 'on' };
  if (isListField(schema)) return readLines(label, schema, raw);
  if (typeof raw === 'number' && (schema.type === 'number' || schema.type === 'integer'))
    return readNumber(label, schema, String(raw));
  if (typeof raw !== 'string') return { error: `${label} must be text.` };
  const text = raw.trim();
  if (text === '') return { value: undefined };
  if (schema.type === 'number' || schema.type === 'integer') return readNumber(label, schema, text);
  return isAddressField(name, schema) ? readAddress(label, text) : readText(label, schema, text);
}

/** Whether a setting is a URL. */
export function isAddressField(name: string, schema: JsonSchema): boolean {
  return schema.format === 'uri' || /(^|_)url$/.test(name);
}

function readText(label: string, schema: JsonSchema, text: string): FieldReading {
  if (schema.enum && !schema.enum.includes(text))
    return { error: `${label} must be one of ${schema.enum.join(', ')}.` };
  const maxLength = schema.maxLength ?? 2000;
  if (text.length > maxLength) return { error: `${label} may have at most ${maxLength} characters.` };
  if (schema.minLength !== undefined && text.length < schema.minLength)
    return { error: `${label} must have at least ${schema.minLength} characters.` };
  if (/[\u0000-\u001f\u007f]/.test(text))
    return { error: `${label} must be a single line without control characters.` };
  if (schema.writeOnly && /\s/.test(text))
    return { error: `${label} must not contain spaces. Copy it again from your account.` };
  if (schema.pattern && !new RegExp(schema.pattern, 'u').test(text))
    return { error: `${label} does not have the expected form. ${schema.description ?? ''}`.trim() };
  return { value: text };
}

function readNumber(label: string, schema: JsonSchema, text: string): FieldReading {
  const value = Number(text);
  const kind = schema.type === 'integer' ? 'a whole number' : 'a number';
  const fits =
    Number.isFinite(value) &&
    (schema.type !== 'integer' || Number.isSafeInteger(value)) &&
    value >= (schema.minimum ?? -Infinity) &&
    value <= (schema.maximum ?? Infinity);
  return fits ? { value } : { error: `${label} must be ${kind}${range(schema)}.` };
}

/** The bounds of the numbers that JSON can hold exactly say nothing to a person. */
function range(schema: JsonSchema): string {
  const minimum = schema.minimum === Number.MIN_SAFE_INTEGER ? undefined : schema.minimum;
  const maximum = schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, ${minimum} or more`;
  return maximum === undefined ? '' : `, ${maximum} or less`;
}

/** White space matters in a stop sequence, but not in a list of names. */
function readLines(label: string, schema: JsonSchema, raw: unknown): FieldReading {
  const typed: readonly unknown[] = Array.isArray(raw) ? raw : typeof raw === 'string' ? raw.split(/\r?\n/) : [raw];
  if (!typed.every((line) => typeof line === 'string')) return { error: `${label} must be text. Enter one per line.` };
  const lines = (schema.anyOf ? typed : typed.map((line) => line.trim())).filter((line) => line !== '');
  const most = schema.anyOf?.find((branch) => branch.type === 'array')?.maxItems ?? schema.maxItems ?? 200;
  if (lines.length > most) return { error: `${label} may have at most ${most} lines.` };
  if (lines.some((line) => line.length > 500)) return { error: `${label} may have at most 500 characters per line.` };
  if (lines.length === 0) return { value: undefined };
  return { value: lines.length === 1 && schema.anyOf ? lines[0] : lines };
}

function readAddress(label: string, text: string): FieldReading {
  const url = isUrl(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text) || /\s/.test(text)) {
    return { error: `${label} must be an http or https URL, such as https://api.example.com.` };
  }
  if (url.username || url.password) return { error: `${label} must not contain a user name or password.` };
  if (url.search || url.hash || /[?#]/.test(text)) return { error: `${label} must not contain ? or #.` };
  return { value: trimTrailingSlashes(url.href) };
}
