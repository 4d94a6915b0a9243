import type { SettingErrors } from '../../../kit/field-errors.ts';
import type { FormElement } from './form.ts';

/** `{id}` is a value, `{{id}}` a literal `{id}`. Other braces, such as those of JSON, stay. */
const placeholder = /\{\{([A-Za-z0-9_-]+)\}\}|\{([A-Za-z0-9_-]+)\}/g;

/** Unique ids of the fields in a template. */
export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(placeholder)].flatMap(([, , id]) => (id === undefined ? [] : [id])))];
}

/** Inserts the values. Braces inside values stay. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(placeholder, (whole: string, literal: string | undefined, id: string | undefined) =>
    literal !== undefined ? `{${literal}}` : id !== undefined && Object.hasOwn(values, id) ? (values[id] ?? '') : whole,
  );
}

/** Reports unknown fields, and required fields that the template does not use. */
export function templateErrors(
  template: string,
  elements: readonly (Pick<FormElement, 'id' | 'label' | 'required'> & Partial<Pick<FormElement, 'type'>>)[],
): SettingErrors {
  const named = placeholdersOf(template);
  const unknown = named.filter((id) => !elements.some((element) => element.id === id));
  // Images go to the model whether or not the prompt names them.
  const unused = elements.filter(({ id, required, type }) => required && type !== 'image' && !named.includes(id));
  const sentences = [
    ...(unknown.length === 0
      ? []
      : [`uses ${unknown.map((id) => `{${id}}`).join(', ')}, but no field has that id. ${known(elements)}`]),
    ...unused.map(
      ({ id, label }) => `does not use the required field “${label}”. Insert {${id}}, or make the field optional.`,
    ),
  ];
  return sentences.length === 0 ? {} : { prompt: `prompt ${sentences.join(' It ')}` };
}

function known(elements: readonly Pick<FormElement, 'id'>[]): string {
  return elements.length === 0
    ? 'The form has no fields yet.'
    : `Available: ${elements.map(({ id }) => `{${id}}`).join(', ')}. Write {{name}} for a literal {name}.`;
}
