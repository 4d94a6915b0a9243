import type { JsonSchema } from '#plugin-api';

/**
 * The JSON Schema of settings of bots and forms. Every member of an object has a default unless it is required; `discriminator`
 * names the member that selects one of `oneOf`. `rule` is the error text when `pattern` does not match.
 */
export interface SettingSchema extends Omit<
  JsonSchema,
  'properties' | 'items' | 'oneOf' | 'additionalProperties' | 'required'
> {
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly additionalProperties?: boolean | SettingSchema;
  readonly required?: readonly string[];
  readonly items?: SettingSchema;
  readonly oneOf?: readonly SettingSchema[];
  readonly discriminator?: { readonly propertyName: string };
  readonly rule?: string;
}

interface FieldLabels {
  readonly title: string;
  readonly description?: string;
}

/** One line of text. */
export function line(labels: FieldLabels, fallback: string, most = 200): SettingSchema {
  return {
    type: 'string',
    ...labels,
    default: fallback,
    maxLength: most,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    rule: 'must be a single line of text',
  };
}

/** Text of any number of lines. */
export function text(labels: FieldLabels, fallback: string, most = 2_000): SettingSchema {
  return { type: 'string', ...labels, default: fallback, maxLength: most };
}

export function flag(labels: FieldLabels, fallback: boolean): SettingSchema {
  return { type: 'boolean', ...labels, default: fallback };
}

export function whole(
  labels: FieldLabels,
  fallback: number,
  [minimum, maximum]: readonly [number, number],
): SettingSchema {
  return { type: 'integer', ...labels, default: fallback, minimum, maximum };
}

/** The first choice is the default. */
export function choice(labels: FieldLabels, choices: readonly [string, ...string[]]): SettingSchema {
  return { type: 'string', ...labels, default: choices[0], enum: choices };
}

/** An object with all members of the type. */
export function group<Members>(
  labels: FieldLabels,
  properties: Readonly<Record<keyof Members & string, SettingSchema>>,
): SettingSchema {
  return { type: 'object', ...labels, default: {}, properties, additionalProperties: false };
}

/** Letters, digits, `-` and `_`. */
export const id: SettingSchema = {
  type: 'string',
  title: 'Id',
  minLength: 1,
  maxLength: 60,
  pattern: '^[A-Za-z0-9_-]+$',
  rule: 'must contain only letters, digits, - and _',
};

/** A line of text that must not be blank. */
export function name(labels: FieldLabels, most = 200): SettingSchema {
  return {
    type: 'string',
    ...labels,
    minLength: 1,
    maxLength: most,
    pattern: '^(?=\\s*\\S)[^\\u0000-\\u001f\\u007f]*$',
    rule: 'must be a single line of text and not blank',
  };
}
