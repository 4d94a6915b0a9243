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

/** A settable member of a schema: `settings.source.url`, its schema, and whether it must be there. */
interface Leaf {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function leavesOf(schema: JsonSchema, path = 'settings'): Leaf[] {
  const names = Array.isArray(schema.required) ? (schema.required as readonly string[]) : [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]): Leaf[] => {
    if (member.readOnly === true) return [];
    if (member.properties) return leavesOf(member, `${path}.${name}`);
    return [{ path: `${path}.${name}`, schema: member, required: names.includes(name) || member.required === true }];
  });
}

/** The form of a type's settings, from its schema; objects inside are laid flat. */
export function settingsFields(
  schema: JsonSchema,
  { settings, errors }: { readonly settings: unknown; readonly errors: SettingErrors },
): SettingsField[] {
  return leavesOf(schema).map(({ path, schema: member, required }) => {
    const name = path.split('.').at(-1) ?? '';
    const value = valueAt({ settings }, path) ?? member.default;
    const kind = kindOf(member);
    const choices = choicesOf(member);
    return {
      id: path.replaceAll('.', '-'),
      name: inputName(path),
      label: fieldLabel(name, member),
      type: kind === 'lines' || kind === 'json' ? 'textarea' : kind,
      value: shown(kind, value),
      help:
        kind === 'lines' && !/one a line/i.test(member.description ?? '')
          ? `${member.description ?? ''} One a line.`.trim()
          : kind === 'json'
            ? `${member.description ?? ''} As JSON.`.trim()
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

/** What was typed into that form; what cannot be read stays a text, to be refused and shown again. Empty fields that need not be filled are left out. */
export function readSettings(schema: JsonSchema, form: Members): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const { path, schema: member, required } of leavesOf(schema)) {
    const typed = valueAt(form, path);
    const value = typeof typed === 'string' ? readValue(member, typed, required) : undefined;
    if (value !== undefined) putAt(settings, path.split('.').slice(1), value);
  }
  return settings;
}

function readValue(schema: JsonSchema, typed: string, required: boolean): unknown {
  const kind = kindOf(schema);
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
      return text.trim() === '' ? undefined : parsed(text);
    case 'number':
      return numberOf(text, types.includes('null'));
    case 'select':
      return choiceOf(schema, text, required);
    default:
      return text.trim() === '' && types.includes('null') ? null : text.trim();
  }
}

/** Empty is nothing, or null where that is a value of its own. */
function numberOf(typed: string, mayBeNull: boolean): unknown {
  const text = typed.trim();
  if (text === '') return mayBeNull ? null : undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A choice may be a number or null as well: it is the value that reads like it. */
function choiceOf(schema: JsonSchema, typed: string, required: boolean): unknown {
  const values = schema.enum ?? (schema.oneOf ?? []).map((one) => one.const);
  const found = values.findIndex((value) => String(value ?? '') === typed);
  if (found >= 0) return values[found];
  return typed === '' && !required ? undefined : typed;
}

function kindOf(schema: JsonSchema): 'switch' | 'number' | 'select' | 'lines' | 'textarea' | 'url' | 'json' | 'text' {
  const types = [schema.type ?? (schema.enum || schema.oneOf ? 'string' : 'object')].flat();
  if (schema.enum || schema.oneOf?.every((one) => 'const' in one)) return 'select';
  if (types.includes('boolean')) return 'switch';
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (types.includes('array')) return [schema.items?.type ?? 'string'].flat().includes('string') ? 'lines' : 'json';
  if (types.includes('object')) return 'json';
  if (schema.format?.startsWith('textarea')) return 'textarea';
  return schema.format === 'uri' ? 'url' : 'text';
}

function choicesOf(schema: JsonSchema): { value: string; label: string }[] | undefined {
  if (schema.enum)
    return schema.enum.map((value) => ({
      value: String(value ?? ''),
      label: value === null || value === '' ? 'Default' : String(value),
    }));
  if (kindOf(schema) !== 'select') return undefined;
  return (schema.oneOf ?? []).map((one) => ({ value: String(one.const ?? ''), label: one.title ?? String(one.const) }));
}

function shown(kind: ReturnType<typeof kindOf>, value: unknown): unknown {
  if (kind === 'json' && value !== undefined && typeof value !== 'string') return JSON.stringify(value, null, 2);
  if (Array.isArray(value)) return value.join('\n');
  return value ?? '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
