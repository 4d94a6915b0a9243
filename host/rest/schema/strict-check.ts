import { createRequire } from 'node:module';
import type { Ajv as AjvType } from 'ajv';
import type { JsonSchema, JsonType } from '#plugin-api';
import { formats } from './formats.ts';
import { requiredNames } from './keywords.ts';
import { hasDuplicates } from './values.ts';

/** Whether a value already satisfies its schema, so that it needs neither coercion nor an error message. */
export type StrictCheck = (value: unknown) => boolean;

const refusesAll: StrictCheck = () => false;

/**
 * Compiles the schema with ajv into a check that is true only for values that WordPress's rules accept unchanged.
 * False is inconclusive: the value may be invalid, or valid after coercion. The slower rules then decide.
 */
export function compileStrictCheck(schema: JsonSchema): StrictCheck {
  const strict = strictSchema(schema);
  if (strict === false) return refusesAll;
  try {
    const text = JSON.stringify(strict);
    const check = known.get(text) ?? (loadAjv().compile(strict) as StrictCheck);
    if (known.size >= maxKnown) known.clear();
    known.set(text, check);
    return check;
  } catch {
    // The slower rules read schemas that ajv rejects.
    return refusesAll;
  }
}

/** By the text of their schema: many routes have equal arguments. */
const known = new Map<string, StrictCheck>();
const maxKnown = 1_000;

let ajv: AjvType | undefined;

/** Loaded on first use: it costs 30 ms. */
function loadAjv(): AjvType {
  if (ajv !== undefined) return ajv;
  const { Ajv } = createRequire(import.meta.url)('ajv') as { Ajv: typeof AjvType };
  ajv = new Ajv({
    strict: false,
    strictNumbers: true,
    validateSchema: false,
    addUsedSchema: false,
    ownProperties: true,
    unicodeRegExp: true,
    logger: false,
  });
  ajv.removeKeyword('multipleOf').removeKeyword('uniqueItems');
  // The remainder of floating-point division, as WordPress has it.
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: (step: number) => (value: number) => value % step === 0,
  });
  // In linear time: ajv compares every pair of items, which a long list from a caller would make slow.
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isWanted: boolean) => (items: readonly unknown[]) => !isWanted || !hasDuplicates(items),
  });
  for (const [name, { accepts, sanitize }] of Object.entries(formats)) {
    ajv.addFormat(name, { type: 'string', validate: (text: string) => accepts(text) && sanitize(text) === text });
  }
  return ajv;
}

type Strict = Record<string, unknown> | false;

/** The schema in ajv's dialect (draft 7); a part whose coercion could change a value of the correct type becomes `false`. */
function strictSchema(schema: JsonSchema): Strict {
  if (schema.anyOf !== undefined || schema.oneOf !== undefined) return false;
  if (schema.type === undefined)
    return schema.enum === undefined && schema.const === undefined && schema.format === undefined ? {} : false;
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]) as readonly JsonType[];
  if (!types.every(isKnown) || !isUnambiguous(types)) return false;
  return {
    type: [...types],
    ...enumKeywords(schema),
    ...pick(schema, [
      'multipleOf',
      'minLength',
      'maxLength',
      'pattern',
      'minItems',
      'maxItems',
      'uniqueItems',
      'minProperties',
      'maxProperties',
    ]),
    ...bounds(schema),
    ...(types.includes('string') &&
      schema.format !== undefined &&
      Object.hasOwn(formats, schema.format) && { format: schema.format }),
    ...(schema.items && { items: strictSchema(schema.items) }),
    ...objectKeywords(schema),
  };
}

function enumKeywords(schema: JsonSchema): Record<string, unknown> {
  if (schema.const !== undefined) return { const: schema.const };
  return schema.enum !== undefined && schema.enum.length > 0 ? { enum: schema.enum } : {};
}

/** Draft 4's booleans become draft 6's numbers. */
function bounds(schema: JsonSchema): Record<string, unknown> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  return {
    ...(typeof exclusiveMinimum === 'number'
      ? { exclusiveMinimum }
      : minimum !== undefined && { [exclusiveMinimum ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(typeof exclusiveMaximum === 'number'
      ? { exclusiveMaximum }
      : maximum !== undefined && { [exclusiveMaximum ? 'exclusiveMaximum' : 'maximum']: maximum }),
  };
}

function objectKeywords(schema: JsonSchema): Record<string, unknown> {
  const { properties, patternProperties, additionalProperties } = schema;
  const required = requiredNames(schema);
  return {
    ...(properties && { properties: strictMembers(properties) }),
    ...(patternProperties && { patternProperties: strictMembers(patternProperties) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'boolean' ? additionalProperties : strictSchema(additionalProperties),
    }),
    ...(required.length > 0 && { required }),
  };
}

function strictMembers(members: Readonly<Record<string, JsonSchema>>): Record<string, Strict> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, strictSchema(member)]));
}

function pick(schema: JsonSchema, keywords: readonly (keyof JsonSchema)[]): Record<string, unknown> {
  return Object.fromEntries(
    keywords.filter((keyword) => schema[keyword] !== undefined).map((keyword) => [keyword, schema[keyword]]),
  );
}

/** Types whose values a type also accepts, if it precedes them in a list of types. */
const captures: Readonly<Record<JsonType, readonly JsonType[]>> = {
  array: ['string', 'number', 'integer', 'boolean', 'object'],
  object: ['string', 'array'],
  integer: ['string'],
  number: ['string'],
  boolean: ['string', 'number', 'integer'],
  string: [],
  null: [],
};

function isKnown(type: JsonType): boolean {
  return Object.hasOwn(captures, type);
}

function isUnambiguous(types: readonly JsonType[]): boolean {
  return types.every((type, position) => types.slice(position + 1).every((later) => !captures[type].includes(later)));
}
