import type { JsonSchema } from '../schema.ts';
import type { FieldErrors } from './check.ts';
import { fieldError, formFields, type FormField, type FormFieldsInit } from './fields.ts';

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
