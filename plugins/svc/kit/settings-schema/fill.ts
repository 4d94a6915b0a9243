import type { SettingSchema } from './fields.ts';

type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Fills in the defaults of the schema, including the items of lists. Existing values stay unchanged, valid or not.
 *
 * @param unknown whether members that the schema does not have are kept, for a check to report, or dropped, for settings that
 *   another version stored
 */
export function fillDefaults(schema: SettingSchema, value: unknown, unknown: 'keep' | 'drop' = 'keep'): unknown {
  if (Array.isArray(value))
    return schema.items ? value.map((item) => fillDefaults(schema.items as SettingSchema, item, unknown)) : value;
  if (!isMembers(value)) return value;
  const { properties, additionalProperties } = schema;
  if (!properties) {
    if (typeof additionalProperties !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, fillDefaults(additionalProperties, member, unknown)]),
    );
  }
  const known = Object.entries(properties).flatMap(([name, member]) => {
    if (Object.hasOwn(value, name)) return [[name, fillDefaults(member, value[name], unknown)]];
    return 'default' in member ? [[name, fillDefaults(member, structuredClone(member.default), unknown)]] : [];
  });
  const others = unknown === 'keep' ? Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name)) : [];
  return Object.fromEntries([...known, ...others] as [string, unknown][]);
}

/** Applies changes: merges objects with known members, replaces lists, maps and other values. */
export function mergeChanges(schema: SettingSchema, before: unknown, changes: unknown): unknown {
  const { properties } = schema;
  if (!properties || !isMembers(before) || !isMembers(changes)) return changes;
  const merged = Object.entries(changes).map(([name, change]) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, member && Object.hasOwn(before, name) ? mergeChanges(member, before[name], change) : change] as const;
  });
  return Object.fromEntries([...Object.entries(before), ...merged]);
}
