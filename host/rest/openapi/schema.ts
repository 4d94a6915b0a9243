import { isRecord, type OpenApiObject } from '#plugin-api';

const isString = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** Keywords that both dialects share, with a check of their values. Invalid values are left out. */
const shared: Readonly<Record<string, (value: unknown) => boolean>> = {
  title: isString,
  description: isString,
  enum: isList,
  const: (value) => value !== undefined,
  format: isString,
  pattern: isString,
  minLength: isCount,
  maxLength: isCount,
  multipleOf: (value) => typeof value === 'number' && value > 0,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: isBoolean,
  minProperties: isCount,
  maxProperties: isCount,
  readOnly: isBoolean,
  writeOnly: isBoolean,
  deprecated: isBoolean,
  examples: isList,
};

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/**
 * A schema as routes write it (draft 4 with WordPress's `required: true` inside a property) as JSON Schema 2020-12. Formats
 * stay as they are; the host's own keywords, such as `context`, and functions are left out.
 */
export function translateSchema(given: unknown): OpenApiObject {
  if (!isRecord(given)) return {};
  return {
    ...translateType(given['type']),
    ...Object.fromEntries(Object.entries(given).filter(([keyword, value]) => shared[keyword]?.(value) === true)),
    ...(given['readonly'] === true && { readOnly: true }),
    ...translateDefault(given),
    ...translateLimits(given),
    ...translateItems(given),
    ...translateMembers(given),
    ...translateChoices(given),
    ...(isRecord(given['openApi']) && translateSchema(given['openApi'])),
  };
}

function translateType(type: unknown): OpenApiObject {
  const names = [...new Set([type].flat())].filter((name) => typeof name === 'string' && typeNames.has(name));
  if (names.length === 0) return {};
  return { type: names.length === 1 ? names[0] : names };
}

/** null means "none" unless the schema allows it. A list may be written as text, which becomes its items. */
function translateDefault({ default: value, type }: OpenApiObject): OpenApiObject {
  if (value === undefined || typeof value === 'function') return {};
  if (type === 'array' && typeof value === 'string')
    return { default: value.split(/[\s,]+/).filter((item) => item !== '') };
  return value === null && ![type].flat().includes('null') ? {} : { default: value };
}

/** Generators and linters want items of every list, also where any are allowed. */
function translateItems({ type, items, additionalItems }: OpenApiObject): OpenApiObject {
  const isList = [type].flat().includes('array');
  if (!Array.isArray(items)) return items === undefined && !isList ? {} : { items: translateSchema(items) };
  const rest =
    additionalItems !== undefined ? { items: translateOrBoolean(additionalItems) } : { ...(isList && { items: {} }) };
  return { ...(items.length > 0 && { prefixItems: items.map(translateSchema) }), ...rest };
}

function translateMembers({
  properties,
  patternProperties,
  additionalProperties,
  required,
}: OpenApiObject): OpenApiObject {
  const names = requiredNames(properties, required);
  return {
    ...(isRecord(properties) && { properties: eachSchema(properties) }),
    ...(isRecord(patternProperties) && { patternProperties: eachSchema(patternProperties) }),
    ...(additionalProperties !== undefined && { additionalProperties: translateOrBoolean(additionalProperties) }),
    ...(names.length > 0 && { required: names }),
  };
}

/** Required members: those in the list, and those with `required: true`. */
export function requiredNames(properties: unknown, list?: unknown): string[] {
  const own = isRecord(properties)
    ? Object.entries(properties)
        .filter(([, schema]) => isRecord(schema) && schema['required'] === true)
        .map(([name]) => name)
    : [];
  const listed = Array.isArray(list) ? list.filter((name): name is string => typeof name === 'string') : [];
  return [...new Set([...listed, ...own])];
}

function translateChoices(given: OpenApiObject): OpenApiObject {
  const choices = ['anyOf', 'oneOf', 'allOf'].filter((keyword) => isList(given[keyword]));
  return {
    ...Object.fromEntries(choices.map((keyword) => [keyword, (given[keyword] as unknown[]).map(translateSchema)])),
    ...(isRecord(given['not']) && { not: translateSchema(given['not']) }),
  };
}

function eachSchema(schemas: OpenApiObject): OpenApiObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, translateSchema(schema)]));
}

function translateOrBoolean(value: unknown): unknown {
  return typeof value === 'boolean' ? value : translateSchema(value);
}

/** `minimum: 1, exclusiveMinimum: true` of draft 4 becomes `exclusiveMinimum: 1`; numbers stay. */
function translateLimits(given: OpenApiObject): OpenApiObject {
  return {
    ...limit({ inclusive: 'minimum', exclusive: 'exclusiveMinimum' }, given),
    ...limit({ inclusive: 'maximum', exclusive: 'exclusiveMaximum' }, given),
  };
}

function limit(
  { inclusive, exclusive }: { readonly inclusive: string; readonly exclusive: string },
  given: OpenApiObject,
): OpenApiObject {
  const bound = given[inclusive];
  const strict = given[exclusive];
  if (strict === true && typeof bound === 'number') return { [exclusive]: bound };
  return {
    ...(typeof bound === 'number' && { [inclusive]: bound }),
    ...(typeof strict === 'number' && { [exclusive]: strict }),
  };
}
