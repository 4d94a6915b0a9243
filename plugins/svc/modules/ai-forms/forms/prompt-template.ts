import type { SettingErrors } from '../../../kit/settings-schema/check-shape.ts';
import type { FormElement } from './form.ts';

/** `{{id}}` is `{id}` as it stands; `{id}` is what was filled in. Other braces, those of JSON say, mean themselves. */
const placeholder = /\{\{([A-Za-z0-9_-]+)\}\}|\{([A-Za-z0-9_-]+)\}/g;

/** Ids of the fields that a template names, each once. */
export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(placeholder)].flatMap(([, , id]) => (id === undefined ? [] : [id])))];
}

/** The prompt with what was filled in; values are not looked at again, whatever braces they hold. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(placeholder, (whole: string, literal: string | undefined, id: string | undefined) =>
    literal !== undefined ? `{${literal}}` : id !== undefined && Object.hasOwn(values, id) ? (values[id] ?? '') : whole,
  );
}

/** What a template gets wrong: fields that there are not, and required ones that it leaves out. */
export function templateErrors(
  template: string,
  elements: readonly Pick<FormElement, 'id' | 'label' | 'required'>[],
): SettingErrors {
  const named = placeholdersOf(template);
  const unknown = named.filter((id) => !elements.some((element) => element.id === id));
  const unused = elements.filter(({ id, required }) => required && !named.includes(id));
  const sentences = [
    ...(unknown.length === 0
      ? []
      : [`names ${unknown.map((id) => `{${id}}`).join(', ')}, but no field has that id. ${known(elements)}`]),
    ...unused.map(
      ({ id, label }) =>
        `does not use the required field “${label}”. Write {${id}} where its value belongs, or make the field optional.`,
    ),
  ];
  return sentences.length === 0 ? {} : { prompt: `prompt ${sentences.join(' It ')}` };
}

function known(elements: readonly Pick<FormElement, 'id'>[]): string {
  return elements.length === 0
    ? 'The form has no fields yet.'
    : `There are ${elements.map(({ id }) => `{${id}}`).join(', ')}. A name in braces that is to stay is written {{name}}.`;
}
