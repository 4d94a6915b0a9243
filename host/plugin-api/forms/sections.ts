import type { JsonSchema } from '../schema.ts';
import type { FieldErrors } from './check.ts';
import { fieldError, formFields, type FormField, type FormFieldsInit } from './fields.ts';
import { isRecord } from '../values.ts';

/** Fields side by side where the window is wide enough. */
export interface FormGroup {
  readonly title?: string;
  readonly help?: string;
  /** Paths of members; the path of an object means all its members. */
  readonly fields: readonly string[];
  /** Each field takes the whole line. */
  readonly wide?: boolean;
}

/** A part of a long form: the layout of a page, for a schema that says all else. */
export interface FormSection {
  readonly id: string;
  readonly title: string;
  readonly help?: string;
  readonly groups: readonly FormGroup[];
}

export interface ShownSection extends Omit<FormSection, 'groups'> {
  readonly groups: readonly (Omit<FormGroup, 'fields'> & { readonly fields: readonly FormField[] })[];
  /** Number of fields with an error. */
  readonly errors: number;
}

/** The fields of each section, for the templates. */
export function formSections(
  schema: JsonSchema,
  sections: readonly FormSection[],
  init: Omit<FormFieldsInit, 'paths'>,
): ShownSection[] {
  return sections.map((section) => {
    const groups = section.groups.map((group) => ({
      ...group,
      fields: formFields(schema, { ...init, paths: group.fields }),
    }));
    const errors = groups.flatMap(({ fields }) => fields).filter(({ error }) => error !== undefined).length;
    return { ...section, groups, errors };
  });
}

/** Paths of all members in the sections. */
export function sectionPaths(sections: readonly FormSection[]): string[] {
  return sections.flatMap(({ groups }) => groups.flatMap(({ fields }) => fields));
}

/** All errors with links to their fields, for the top of a form. `href` is '' without a field. */
export function linkErrors(
  errors: FieldErrors,
  fields: readonly FormField[],
): { readonly path: string; readonly href: string; readonly sentence: string }[] {
  return Object.entries(errors).map(([path, sentence]) => {
    const field = fields.find(
      (one) => path === one.path || path.startsWith(`${one.path}[`) || path.startsWith(`${one.path}.`),
    );
    if (!field) return { path, href: '', sentence };
    const text = fieldError({ [path]: sentence }, field.path, field.label) ?? sentence;
    return { path, href: `#${field.id}`, sentence: text.startsWith('Line ') ? `${field.label}: ${text}` : text };
  });
}

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
