import type { JsonSchema, JsonType } from '#plugin-api';
import { findMatchingSchema } from './combine.ts';
import { counted, fault, typeFault } from './fault.ts';
import type { SchemaFault } from './fault.ts';
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
 * Checks a value by WordPress's rules: texts that read as a number, a switch or a list count as one.
 *
 * @param param name of the value in sentences, for example `messages[0][role]`.
 * @returns the first fault, or null.
 */
export function findFault(value: unknown, schema: JsonSchema, param: string): SchemaFault | null {
  const combined = combinedType({ value, schema, param });
  if (typeof combined === 'object' && combined !== null) return combined;
  let type: JsonType | null = combined ?? null;
  if (Array.isArray(schema.type)) {
    type = resolveType(value, schema.type as readonly JsonType[]);
    if (type === null) return typeFault(param, schema.type.join(','));
  } else if (typeof schema.type === 'string') {
    type = schema.type as JsonType;
  }
  return (
    typeFaults({ value, schema, param }, type) ??
    enumFault({ value, schema, param }) ??
    formatFault({ value, schema, param }, type)
  );
}

/** The type of the alternative that fits, undefined without one, or the fault. */
function combinedType({ value, schema, param }: Checked): JsonType | SchemaFault | undefined {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (schema[keyword] === undefined) continue;
    const found = findMatchingSchema({ value, schema, param, findFault }, keyword);
    if ('code' in found) return found;
    if (typeof found.schema.type === 'string') return found.schema.type as JsonType;
  }
  return undefined;
}

function typeFaults(checked: Checked, type: JsonType | null): SchemaFault | null {
  const { value, schema, param } = checked;
  switch (type) {
    case 'null':
      return value === null ? null : typeFault(param, 'null');
    case 'boolean':
      return isBoolean(value) ? null : typeFault(param, 'boolean');
    case 'object':
      return isObject(value) ? objectFault({ value: toObject(value), schema, param }) : typeFault(param, 'object');
    case 'array':
      return isList(value) ? arrayFault({ value: toList(value), schema, param }) : typeFault(param, 'array');
    case 'number':
      return isNumeric(value) ? validateNumber(Number(value), schema, param) : typeFault(param, 'number');
    case 'integer':
      if (!isNumeric(value)) return typeFault(param, 'integer');
      return validateNumber(Number(value), schema, param) ?? (isInteger(value) ? null : typeFault(param, 'integer'));
    case 'string':
      return typeof value === 'string' ? validateString(value, schema, param) : typeFault(param, 'string');
    case null:
      return null;
    default:
      // A type that JSON Schema does not know refuses nothing, as in WordPress.
      return null;
  }
}

function objectFault({ value, schema, param }: Checked & { value: Record<string, unknown> }): SchemaFault | null {
  for (const name of requiredNames(schema)) {
    if (!Object.hasOwn(value, name))
      return fault('rest_property_required', `${name} is a required property of ${param}.`);
  }
  let count = 0;
  for (const [name, member] of Object.entries(value)) {
    count += 1;
    const own = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const rule = own ?? matchingPattern(schema, name) ?? additionalSchema(schema);
    if (rule === false)
      return fault('rest_additional_properties_forbidden', `${name} is not a valid property of Object.`);
    const found = rule === null ? null : findFault(member, rule, `${param}[${name}]`);
    if (found !== null) return found;
  }
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && count < minProperties) {
    return fault(
      'rest_too_few_properties',
      `${param} must contain at least ${counted(minProperties, 'property', 'properties')}.`,
    );
  }
  if (maxProperties !== undefined && count > maxProperties) {
    return fault(
      'rest_too_many_properties',
      `${param} must contain at most ${counted(maxProperties, 'property', 'properties')}.`,
    );
  }
  return null;
}

function arrayFault({ value, schema, param }: Checked & { value: readonly unknown[] }): SchemaFault | null {
  if (schema.items !== undefined) {
    for (const [index, item] of value.entries()) {
      const found = findFault(item, schema.items, `${param}[${index}]`);
      if (found !== null) return found;
    }
  }
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) {
    return fault('rest_too_few_items', `${param} must contain at least ${counted(minItems, 'item', 'items')}.`);
  }
  if (maxItems !== undefined && value.length > maxItems) {
    return fault('rest_too_many_items', `${param} must contain at most ${counted(maxItems, 'item', 'items')}.`);
  }
  if (schema.uniqueItems === true && hasDuplicates(value))
    return fault('rest_duplicate_items', `${param} has duplicate items.`);
  return null;
}

function enumFault({ value, schema, param }: Checked): SchemaFault | null {
  const allowed = schema.const !== undefined ? [schema.const] : schema.enum;
  if (allowed === undefined || allowed.length === 0) return null;
  const sanitized = stableText(sanitizeValue(value, schema, param));
  if (allowed.some((candidate) => stableText(candidate) === sanitized)) return null;
  const names = allowed.map((candidate) => (isScalar(candidate) ? scalarText(candidate) : JSON.stringify(candidate)));
  return fault(
    'rest_not_in_enum',
    names.length === 1 ? `${param} is not ${String(names[0])}.` : `${param} is not one of ${listSentence(names)}.`,
  );
}

/** Formats speak of texts: of type string, or of no type at all. */
function formatFault({ value, schema, param }: Checked, type: JsonType | null): SchemaFault | null {
  const format = type === 'string' || type === null ? findFormat(schema.format) : undefined;
  if (format === undefined || !isScalar(value) || format.accepts(scalarText(value))) return null;
  return fault(...format.fault(param));
}

/**
 * Turns a value that passed `findFault` into its schema's type: texts become numbers, switches and lists, and members
 * that the schema forbids are left out. A part that does not fit its schema is left as it came.
 *
 * @param param name of the value; it only matters to alternatives.
 */
export function sanitizeValue(value: unknown, schema: JsonSchema, param: string): unknown {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (schema[keyword] === undefined) continue;
    const found = findMatchingSchema({ value, schema, param, findFault }, keyword);
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
