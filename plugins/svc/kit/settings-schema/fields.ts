import type { JsonSchema } from '#plugin-api';

/**
 * A JSON Schema as settings of bots and forms are written in: every member of an object has a default unless it is required, and
 * `discriminator` names the member that tells which of `oneOf` is meant. `rule` is the sentence shown when `pattern` does not fit.
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
export function line(words: FieldLabels, fallback: string, most = 200): SettingSchema {
  return {
    type: 'string',
    ...words,
    default: fallback,
    maxLength: most,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    rule: 'must be a text of one line',
  };
}

/** Text of any number of lines. */
export function text(words: FieldLabels, fallback: string, most = 2_000): SettingSchema {
  return { type: 'string', ...words, default: fallback, maxLength: most };
}

export function flag(words: FieldLabels, fallback: boolean): SettingSchema {
  return { type: 'boolean', ...words, default: fallback };
}

export function whole(
  words: FieldLabels,
  fallback: number,
  [minimum, maximum]: readonly [number, number],
): SettingSchema {
  return { type: 'integer', ...words, default: fallback, minimum, maximum };
}

/** The first choice is the default. */
export function choice(words: FieldLabels, choices: readonly [string, ...string[]]): SettingSchema {
  return { type: 'string', ...words, default: choices[0], enum: choices };
}

/** An object whose members are all those of the type. */
export function group<Members>(
  words: FieldLabels,
  properties: Readonly<Record<keyof Members & string, SettingSchema>>,
): SettingSchema {
  return { type: 'object', ...words, default: {}, properties, additionalProperties: false };
}

/** Letters, digits, `-` and `_`. */
export const id: SettingSchema = {
  type: 'string',
  title: 'Id',
  minLength: 1,
  maxLength: 60,
  pattern: '^[A-Za-z0-9_-]+$',
  rule: 'may hold letters, digits, - and _ only',
};

/** A text that must not be blank. */
export function name(words: FieldLabels, most = 200): SettingSchema {
  return {
    type: 'string',
    ...words,
    minLength: 1,
    maxLength: most,
    pattern: '^(?=\\s*\\S)[^\\u0000-\\u001f\\u007f]*$',
    rule: 'must be a text of one line that is not blank',
  };
}
