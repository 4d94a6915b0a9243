import type { JsonSchema } from '../schema.ts';
import { isRecord } from '../values.ts';

/**
 * Fills in the defaults of the schema, including those of nested objects and of items of lists. Existing values stay unchanged,
 * valid or not.
 *
 * @param unknown whether members that the schema does not have are kept, for a check to report, or dropped, for settings that
 *   another version stored
 */
export function fillDefaults(schema: JsonSchema, value: unknown, unknown: 'keep' | 'drop' = 'keep'): unknown {
  const { properties, additionalProperties, items } = schema;
  if (Array.isArray(value)) return items ? value.map((item) => fillDefaults(items, item, unknown)) : value;
  if (!isRecord(value)) return value;
  if (!properties) {
    if (typeof additionalProperties !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, fillDefaults(additionalProperties, member, unknown)]),
    );
  }
  const known = Object.entries(properties).flatMap(([name, member]) => {
    if (value[name] !== undefined) return [[name, fillDefaults(member, value[name], unknown)]];
    if ('default' in member) return [[name, fillDefaults(member, structuredClone(member.default), unknown)]];
    return member.properties ? [[name, fillDefaults(member, {}, unknown)]] : [];
  });
  const others = unknown === 'keep' ? Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name)) : [];
  return Object.fromEntries([...known, ...others] as [string, unknown][]);
}

/** Applies changes: merges objects with known members, replaces lists, maps and other values. */
export function mergeChanges(schema: JsonSchema, before: unknown, changes: unknown): unknown {
  const { properties } = schema;
  if (!properties || !isRecord(before) || !isRecord(changes)) return changes;
  const merged = Object.entries(changes).map(([name, change]) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, member && Object.hasOwn(before, name) ? mergeChanges(member, before[name], change) : change] as const;
  });
  return Object.fromEntries([...Object.entries(before), ...merged]);
}
