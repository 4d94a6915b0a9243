import type { JsonSchema } from '#plugin-api';
import { fieldLabel } from '../../../settings/field-value.ts';
import { inputName, putAt, valueAt } from '../../../admin-ui/setting-field.ts';
import type { SettingErrors } from '../tasks/settings-schema.ts';

type Members = Readonly<Record<string, unknown>>;

/** Values of the partial `admin/field`. */
export interface SettingsField {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly value: unknown;
  readonly help?: string | undefined;
  readonly error?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly required?: boolean;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly step?: number | string | undefined;
  readonly maxlength?: number | undefined;
  readonly rows?: number;
  readonly mono?: boolean;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
}

/** An editable member of a schema, such as `settings.source.url`. */
interface Leaf {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function listLeaves(schema: JsonSchema, path = 'settings'): Leaf[] {
  const names = Array.isArray(schema.required) ? (schema.required as readonly string[]) : [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]): Leaf[] => {
    if (member.readOnly === true) return [];
    if (member.properties) return listLeaves(member, `${path}.${name}`);
    return [{ path: `${path}.${name}`, schema: member, required: names.includes(name) || member.required === true }];
  });
}

/** The fields of a type's settings, from its schema. Nested objects are flattened. */
export function settingsFields(
  schema: JsonSchema,
  { settings, errors }: { readonly settings: unknown; readonly errors: SettingErrors },
): SettingsField[] {
  return listLeaves(schema).map(({ path, schema: member, required }) => {
    const name = path.split('.').at(-1) ?? '';
    const value = valueAt({ settings }, path) ?? member.default;
    const kind = fieldKind(member);
    const choices = fieldOptions(member);
    return {
      id: path.replaceAll('.', '-'),
      name: inputName(path),
      label: fieldLabel(name, member),
      type: kind === 'lines' || kind === 'json' ? 'textarea' : kind,
      value: displayValue(kind, value),
      help:
        kind === 'lines' && !/per line/i.test(member.description ?? '')
          ? `${member.description ?? ''} One per line.`.trim()
          : kind === 'json'
            ? `${member.description ?? ''} Enter JSON.`.trim()
            : member.description,
      error: errors[path] ?? Object.entries(errors).find(([key]) => key.startsWith(`${path}.`))?.[1],
      placeholder: member.examples?.[0] === undefined ? undefined : String(member.examples[0]),
      ...(required && kind !== 'switch' && { required }),
      ...(kind === 'number' && {
        min: member.minimum,
        max: member.maximum,
        step: member.type === 'integer' ? 1 : 'any',
      }),
      ...(kind === 'text' && { maxlength: member.maxLength }),
      ...(kind === 'textarea' && { rows: 5 }),
      ...(kind === 'json' && { mono: true, rows: 4 }),
      ...(choices && {
        options:
          required || member.default !== undefined || choices.some((choice) => choice.value === '')
            ? choices
            : [{ value: '', label: 'Default' }, ...choices],
      }),
    };
  });
}

/**
 * The settings typed in that form. Values that cannot be parsed stay text, so that the check refuses them. Empty optional
 * fields are left out.
 */
export function readSettings(schema: JsonSchema, form: Members): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const { path, schema: member, required } of listLeaves(schema)) {
    const typed = valueAt(form, path);
    const value = typeof typed === 'string' ? readValue(member, typed, required) : undefined;
    if (value !== undefined) putAt(settings, path.split('.').slice(1), value);
  }
  return settings;
}

function readValue(schema: JsonSchema, typed: string, required: boolean): unknown {
  const kind = fieldKind(schema);
  const text = typed.replaceAll('\r\n', '\n');
  const types = [schema.type ?? 'string'].flat();
  switch (kind) {
    case 'switch':
      return typed === '1';
    case 'lines':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'textarea':
      return text;
    case 'json':
      return text.trim() === '' ? undefined : parseJson(text);
    case 'number':
      return parseNumber(text, types.includes('null'));
    case 'select':
      return parseChoice(schema, text, required);
    default:
      return text.trim() === '' && types.includes('null') ? null : text.trim();
  }
}

/** Empty text is undefined, or null if the schema allows null. */
function parseNumber(typed: string, mayBeNull: boolean): unknown {
  const text = typed.trim();
  if (text === '') return mayBeNull ? null : undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The value of the enum that matches the text; values may be numbers or null. */
function parseChoice(schema: JsonSchema, typed: string, required: boolean): unknown {
  const values = schema.enum ?? (schema.oneOf ?? []).map((one) => one.const);
  const found = values.findIndex((value) => String(value ?? '') === typed);
  if (found >= 0) return values[found];
  return typed === '' && !required ? undefined : typed;
}

function fieldKind(
  schema: JsonSchema,
): 'switch' | 'number' | 'select' | 'lines' | 'textarea' | 'url' | 'json' | 'text' {
  const types = [schema.type ?? (schema.enum || schema.oneOf ? 'string' : 'object')].flat();
  if (schema.enum || schema.oneOf?.every((one) => 'const' in one)) return 'select';
  if (types.includes('boolean')) return 'switch';
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (types.includes('array')) return [schema.items?.type ?? 'string'].flat().includes('string') ? 'lines' : 'json';
  if (types.includes('object')) return 'json';
  if (schema.format?.startsWith('textarea')) return 'textarea';
  return schema.format === 'uri' ? 'url' : 'text';
}

function fieldOptions(schema: JsonSchema): { value: string; label: string }[] | undefined {
  if (schema.enum && !schema.oneOf)
    return schema.enum.map((value) => ({
      value: String(value ?? ''),
      label: value === null || value === '' ? 'Default' : enumLabel(String(value)),
    }));
  if (fieldKind(schema) !== 'select') return undefined;
  return (schema.oneOf ?? []).map((one) => ({ value: String(one.const ?? ''), label: one.title ?? String(one.const) }));
}

/** `draft` -> `Draft`. Ids and names stay as they are. */
function enumLabel(value: string): string {
  return /^[a-z]+(_[a-z]+)*$/.test(value) ? fieldLabel(value, {}) : value;
}

function displayValue(kind: ReturnType<typeof fieldKind>, value: unknown): unknown {
  if (kind === 'json' && value !== undefined && typeof value !== 'string') return JSON.stringify(value, null, 2);
  if (Array.isArray(value)) return value.join('\n');
  return value ?? '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
