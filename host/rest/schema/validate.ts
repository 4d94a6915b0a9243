import type { JsonSchema, JsonType } from '#plugin-api';
import { findMatchingSchema } from './combine.ts';
import { counted, schemaError, typeError } from './schema-error.ts';
import type { SchemaError } from './schema-error.ts';
import { findFormat } from './formats.ts';
import { additionalSchema, matchingPattern, requiredNames, resolveType } from './keywords.ts';
import { validateNumber, validateString } from './scalars.ts';
import {
  hasDuplicates,
  isBoolean,
  isInteger,
  isList,
  isNumeric,
  isObject,
  isScalar,
  listSentence,
  scalarText,
  stableText,
  toBoolean,
  toList,
  toObject,
} from './values.ts';

interface Checked {
  readonly value: unknown;
  readonly schema: JsonSchema;
  readonly param: string;
}

/**
 * Validates a value by WordPress's rules: text that reads as a number, boolean or list counts as one.
 *
 * @param param name of the value in messages, for example `messages[0][role]`.
 * @returns the first error, or null.
 */
export function findSchemaError(value: unknown, schema: JsonSchema, param: string): SchemaError | null {
  const combined = combinedType({ value, schema, param });
  if (typeof combined === 'object' && combined !== null) return combined;
  let type: JsonType | null = combined ?? null;
  if (Array.isArray(schema.type)) {
    type = resolveType(value, schema.type as readonly JsonType[]);
    if (type === null) return typeError(param, schema.type.join(','));
  } else if (typeof schema.type === 'string') {
    type = schema.type as JsonType;
  }
  return (
    findTypeError({ value, schema, param }, type) ??
    findEnumError({ value, schema, param }) ??
    findFormatError({ value, schema, param }, type)
  );
}

/** The type of the matching alternative, undefined without alternatives, or the error. */
function combinedType({ value, schema, param }: Checked): JsonType | SchemaError | undefined {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (schema[keyword] === undefined) continue;
    const found = findMatchingSchema({ value, schema, param, findSchemaError }, keyword);
    if ('code' in found) return found;
    if (typeof found.schema.type === 'string') return found.schema.type as JsonType;
  }
  return undefined;
}

function findTypeError(checked: Checked, type: JsonType | null): SchemaError | null {
  const { value, schema, param } = checked;
  switch (type) {
    case 'null':
      return value === null ? null : typeError(param, 'null');
    case 'boolean':
      return isBoolean(value) ? null : typeError(param, 'boolean');
    case 'object':
      return isObject(value) ? findObjectError({ value: toObject(value), schema, param }) : typeError(param, 'object');
    case 'array':
      return isList(value) ? findArrayError({ value: toList(value), schema, param }) : typeError(param, 'array');
    case 'number':
      return isNumeric(value) ? validateNumber(Number(value), schema, param) : typeError(param, 'number');
    case 'integer':
      if (!isNumeric(value)) return typeError(param, 'integer');
      return validateNumber(Number(value), schema, param) ?? (isInteger(value) ? null : typeError(param, 'integer'));
    case 'string':
      return typeof value === 'string' ? validateString(value, schema, param) : typeError(param, 'string');
    case null:
      return null;
    default:
      // As in WordPress, an unknown type accepts everything.
      return null;
  }
}

function findObjectError({ value, schema, param }: Checked & { value: Record<string, unknown> }): SchemaError | null {
  for (const name of requiredNames(schema)) {
    if (!Object.hasOwn(value, name))
      return schemaError('rest_property_required', `${name} is a required property of ${param}.`);
  }
  let count = 0;
  for (const [name, member] of Object.entries(value)) {
    count += 1;
    const own = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const rule = own ?? matchingPattern(schema, name) ?? additionalSchema(schema);
    if (rule === false)
      return schemaError('rest_additional_properties_forbidden', `${name} is not a valid property of Object.`);
    const found = rule === null ? null : findSchemaError(member, rule, `${param}[${name}]`);
    if (found !== null) return found;
  }
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && count < minProperties) {
    return schemaError(
      'rest_too_few_properties',
      `${param} must contain at least ${counted(minProperties, 'property', 'properties')}.`,
    );
  }
  if (maxProperties !== undefined && count > maxProperties) {
    return schemaError(
      'rest_too_many_properties',
      `${param} must contain at most ${counted(maxProperties, 'property', 'properties')}.`,
    );
  }
  return null;
}

function findArrayError({ value, schema, param }: Checked & { value: readonly unknown[] }): SchemaError | null {
  if (schema.items !== undefined) {
    for (const [index, item] of value.entries()) {
      const found = findSchemaError(item, schema.items, `${param}[${index}]`);
      if (found !== null) return found;
    }
  }
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) {
    return schemaError('rest_too_few_items', `${param} must contain at least ${counted(minItems, 'item', 'items')}.`);
  }
  if (maxItems !== undefined && value.length > maxItems) {
    return schemaError('rest_too_many_items', `${param} must contain at most ${counted(maxItems, 'item', 'items')}.`);
  }
  if (schema.uniqueItems === true && hasDuplicates(value))
    return schemaError('rest_duplicate_items', `${param} has duplicate items.`);
  return null;
}

function findEnumError({ value, schema, param }: Checked): SchemaError | null {
  const allowed = schema.const !== undefined ? [schema.const] : schema.enum;
  if (allowed === undefined || allowed.length === 0) return null;
  const sanitized = sanitizeValue(value, schema, param);
  if (allowed.includes(sanitized)) return null;
  const text = stableText(sanitized);
  if (allowed.some((candidate) => stableText(candidate) === text)) return null;
  const names = allowed.map((candidate) => (isScalar(candidate) ? scalarText(candidate) : JSON.stringify(candidate)));
  return schemaError(
    'rest_not_in_enum',
    names.length === 1 ? `${param} is not ${String(names[0])}.` : `${param} is not one of ${listSentence(names)}.`,
  );
}

/** Formats apply to strings and to values without a type. */
function findFormatError({ value, schema, param }: Checked, type: JsonType | null): SchemaError | null {
  const format = type === 'string' || type === null ? findFormat(schema.format) : undefined;
  if (format === undefined || !isScalar(value) || format.accepts(scalarText(value))) return null;
  return schemaError(...format.describeError(param));
}

/**
 * Converts a valid value to its schema's type: text becomes a number, boolean or list, and forbidden members are removed.
 * A part that does not match its schema is unchanged.
 *
 * @param param name of the value; used only for alternatives.
 */
export function sanitizeValue(value: unknown, schema: JsonSchema, param: string): unknown {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (schema[keyword] === undefined) continue;
    const found = findMatchingSchema({ value, schema, param, findSchemaError }, keyword);
    return 'code' in found ? value : sanitizeValue(value, found.schema, param);
  }
  const type = Array.isArray(schema.type)
    ? resolveType(value, schema.type as readonly JsonType[])
    : (schema.type as JsonType | undefined);
  switch (type) {
    case 'array':
      return schema.items === undefined ? toList(value) : sanitizeList(toList(value), schema.items, param);
    case 'object': {
      const members = sanitizeObject(toObject(value), schema, param);
      return Array.isArray(value) && schema.type?.includes('array') ? Object.values(members) : members;
    }
    case 'null':
      return null;
    case 'integer':
      return isNumeric(value) ? Math.trunc(Number(value)) : value;
    case 'number':
      return isNumeric(value) ? Number(value) : value;
    case 'boolean':
      return toBoolean(value);
    case 'string':
    case undefined:
    case null:
      return sanitizeText(value, schema, type === 'string');
    default:
      return value;
  }
}

function sanitizeList(items: readonly unknown[], schema: JsonSchema, param: string): unknown[] {
  return items.map((item, index) => sanitizeValue(item, schema, `${param}[${index}]`));
}

function sanitizeObject(members: Record<string, unknown>, schema: JsonSchema, param: string): Record<string, unknown> {
  const sanitized: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(members)) {
    const own = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const rule = own ?? matchingPattern(schema, name) ?? additionalSchema(schema);
    if (rule !== false) sanitized[name] = rule === null ? member : sanitizeValue(member, rule, `${param}[${name}]`);
  }
  return sanitized;
}

function sanitizeText(value: unknown, schema: JsonSchema, isText: boolean): unknown {
  const text = isText && isScalar(value) ? scalarText(value) : value;
  return typeof text === 'string' ? (findFormat(schema.format)?.sanitize(text) ?? text) : text;
}
