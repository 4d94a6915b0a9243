import type { JsonSchema, JsonType } from '#plugin-api';
import { compilePattern } from './scalars.ts';
import { isBoolean, isInteger, isList, isNumeric, isObject } from './values.ts';

const typeChecks: Readonly<Record<JsonType, (value: unknown) => boolean>> = {
  array: isList,
  object: isObject,
  integer: isInteger,
  number: isNumeric,
  boolean: isBoolean,
  string: (value) => typeof value === 'string',
  null: (value) => value === null,
};

/** The first type that the value can be read as, or null. An empty text is a string if that is allowed. */
export function resolveType(value: unknown, types: readonly JsonType[]): JsonType | null {
  if (value === '' && types.includes('string')) return 'string';
  return types.find((type) => typeChecks[type]?.(value)) ?? null;
}

/** Names of required members: the list (draft 4), else the properties with `required: true` (draft 3). */
export function requiredNames(schema: JsonSchema): readonly string[] {
  if (Array.isArray(schema.required)) return schema.required as readonly string[];
  if (schema.properties === undefined) return [];
  const names: string[] = [];
  for (const name in schema.properties) if (schema.properties[name]?.required === true) names.push(name);
  return names;
}

/** Schema of the first pattern that the member's name matches, or null. */
export function matchingPattern(schema: JsonSchema, name: string): JsonSchema | null {
  if (schema.patternProperties === undefined) return null;
  for (const [pattern, rule] of Object.entries(schema.patternProperties))
    if (compilePattern(pattern).test(name)) return rule;
  return null;
}

/** The rule for members without a schema: a schema, false (refused), or null (anything). */
export function additionalSchema({ additionalProperties }: JsonSchema): JsonSchema | false | null {
  return additionalProperties === undefined || additionalProperties === true ? null : additionalProperties;
}
