import { trimTrailing } from '#plugin-api';
import type { JsonSchema } from '#plugin-api';

/** Values of the partial `admin/field`. */
export interface FormField {
  readonly type: 'text' | 'url' | 'email' | 'number' | 'textarea' | 'select' | 'checkboxes' | 'switch' | 'secret';
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly value?: unknown;
  readonly help?: string;
  readonly error?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number | 'any';
  readonly minlength?: number;
  readonly maxlength?: number;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** For secrets: whether one is stored, and its last four characters. */
  readonly saved?: boolean;
  readonly ending?: string;
}

export interface FormFieldInit {
  /** The stored value; for a `writeOnly` property `{saved, ending}`, never the secret. */
  readonly value?: unknown;
  readonly error?: string;
  readonly id?: string;
  readonly label?: string;
  readonly help?: string;
}

/**
 * Creates the form field of a JSON Schema property. Title and description become label and help, `writeOnly` makes it a
 * secret that is never shown. The titles of `oneOf` beside an `enum` become the labels of its choices.
 *
 * @param name of the form field, for example `openai[api_key]`.
 */
export function schemaField(name: string, schema: JsonSchema, init: FormFieldInit = {}): FormField {
  const type = fieldType(schema);
  const help = init.help ?? schema.description;
  const example = schema.examples?.[0];
  return {
    type,
    name,
    id: init.id ?? `field-${trimTrailing(name.replace(/[^\w-]+/g, '-'), '-')}`,
    label: init.label ?? schema.title ?? readableName(name),
    ...(help !== undefined && { help }),
    ...(init.error !== undefined && { error: init.error }),
    ...(example !== undefined && { placeholder: String(example) }),
    ...(schema.required === true && { required: true }),
    ...fieldValue(type, schema, init.value),
    ...fieldLimits(type, schema),
    ...(type === 'select' && { options: fieldOptions(schema) }),
    ...(type === 'checkboxes' && { options: fieldOptions({ ...schema.items, required: true }) }),
  };
}

function fieldType(schema: JsonSchema): FormField['type'] {
  if (schema.writeOnly) return 'secret';
  if (schema.enum) return 'select';
  const type = Array.isArray(schema.type)
    ? (schema.type as readonly string[]).find((name) => name !== 'null')
    : schema.type;
  if (type === 'boolean') return 'switch';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array' && schema.items?.enum) return 'checkboxes';
  if (type === 'array' || schema.format === 'textarea-field') return 'textarea';
  if (schema.format === 'uri') return 'url';
  return schema.format === 'email' ? 'email' : 'text';
}

function fieldValue(
  type: FormField['type'],
  schema: JsonSchema,
  given: unknown,
): Pick<FormField, 'value' | 'saved' | 'ending'> {
  if (type === 'secret') {
    const state = (typeof given === 'object' && given !== null ? given : {}) as { saved?: unknown; ending?: unknown };
    return { saved: state.saved === true, ...(typeof state.ending === 'string' && { ending: state.ending }) };
  }
  const value = given ?? schema.default;
  if (type === 'checkboxes') return { value: Array.isArray(value) ? value : [] };
  if (Array.isArray(value)) return { value: value.join('\n') };
  return value === undefined || value === null ? {} : { value };
}

function fieldLimits(
  type: FormField['type'],
  schema: JsonSchema,
): Pick<FormField, 'min' | 'max' | 'step' | 'minlength' | 'maxlength'> {
  if (type === 'number') {
    return {
      ...(schema.minimum !== undefined && { min: schema.minimum }),
      ...(schema.maximum !== undefined && { max: schema.maximum }),
      step: schema.multipleOf ?? (schema.type === 'integer' ? 1 : 'any'),
    };
  }
  if (schema.type !== 'string') return {};
  return {
    ...(schema.minLength !== undefined && { minlength: schema.minLength }),
    ...(schema.maxLength !== undefined && { maxlength: schema.maxLength }),
  };
}

function fieldOptions(schema: JsonSchema): { value: string; label: string }[] {
  const titles = new Map(schema.oneOf?.map((one) => [one.const, one.title]));
  const options = (schema.enum ?? []).map((value) => ({
    value: String(value),
    label: titles.get(value) ?? String(value),
  }));
  return schema.required === true || schema.default !== undefined
    ? options
    : [{ value: '', label: 'Default' }, ...options];
}

function readableName(name: string): string {
  const last = name.split(/[[\]]/).findLast((part) => part !== '') ?? name;
  const text = last.replace(/[_-]+/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
