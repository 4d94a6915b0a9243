import { formFields, asRecord, readForm, valueAt } from '#plugin-api';
import type { Choice, FieldHints, FormField, FieldErrors } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import type { AiParams } from '../../../kit/ai-params.ts';
import { providerChoices } from '../../../admin-ui/model-choices.ts';
import { placeholders } from '../templates/placeholders.ts';
import { paramsSchema, templateSchema } from '../templates/template-schema.ts';
import { partLabels, partNames, pickSettings, type PartName, type TemplateSettings } from '../templates/template.ts';

type Fields = Readonly<Record<string, unknown>>;

const shownParams = ['temperature', 'max_completion_tokens'] as const;

/** Reads a template form over its base template. Values of the wrong type stay, so that the check refuses them. */
export function readTemplateForm(form: Fields, base: TemplateSettings): Record<string, unknown> {
  const typed = readForm(templateSchema, form) as Partial<TemplateSettings>;
  return {
    ...pickSettings({ ...base, ...typed }),
    params: base.params,
    parts: Object.fromEntries(
      partNames.map((name) => {
        const part = { ...base.parts[name], ...typed.parts?.[name] };
        return [name, { ...part, params: readParams(valueAt(form, `parts.${name}`), base.parts[name].params) }];
      }),
    ),
  };
}

/** Only two parameters have fields; the others are set by commands and stay. Their names lack the member `params`. */
function readParams(typed: unknown, base: AiParams): Record<string, unknown> {
  const params: Record<string, unknown> = { ...base };
  for (const name of shownParams) {
    if (valueAt(typed, name) !== undefined) Reflect.deleteProperty(params, name);
  }
  return { ...params, ...readForm(paramsSchema, asRecord(typed), { paths: shownParams }) };
}

/** `parts.title.prompt` -> `parts[title][prompt]`. */
export function fieldName(path: string): string {
  const [head = '', ...rest] = path.replace(/\.params\./, '.').split('.');
  return head + rest.map((part) => `[${part}]`).join('');
}

/** The fields of a template for `svc/content-parts`. Members may be of any type, as typed. */
export async function templateFields(
  writer: ContentWriter,
  settings: Fields,
  errors: FieldErrors = {},
): Promise<Record<string, unknown>> {
  const [texts, images] = await Promise.all([providerChoices(writer, 'text'), imageChoices(writer)]);
  const own = { value: '', label: 'Same as the template' };
  const firstOf = (what: string): Choice => ({ value: '', label: `First connected ${what}` });
  const ofPart = (name: PartName): FieldHints => ({
    choices: name === 'image' ? [firstOf('image provider'), ...images] : [own, ...texts],
  });
  const hints = {
    provider: { choices: [firstOf('provider'), ...texts] },
    ...Object.fromEntries(partNames.map((name) => [`parts.${name}.provider`, ofPart(name)])),
  };
  const field = (path: string): FormField | undefined =>
    formFields(templateSchema, { values: settings, errors, id: 'content', paths: [path], hints }).map((one) => ({
      ...one,
      name: fieldName(path),
    }))[0];
  return {
    provider: field('provider'),
    model: field('model'),
    system: field('system'),
    parts: partNames.map((name) => ({
      name,
      title: partLabels[name],
      isImage: name === 'image',
      enabledName: fieldName(`parts.${name}.enabled`),
      enabledId: `content-part-${name}`,
      enabled: valueAt(settings, `parts.${name}.enabled`) === true,
      hasError: Object.keys(errors).some((path) => path.startsWith(`parts.${name}.`)),
      prompt: field(`parts.${name}.prompt`),
      provider: field(`parts.${name}.provider`),
      model: field(`parts.${name}.model`),
      temperature: field(`parts.${name}.params.temperature`),
      longest: field(`parts.${name}.params.max_completion_tokens`),
      size: field(`parts.${name}.size`),
    })),
    placeholders: Object.entries(placeholders).map(([name, meaning]) => ({ name: `{${name}}`, meaning })),
    partsError: errors['parts'],
  };
}

async function imageChoices({
  providers,
}: Pick<ContentWriter, 'providers'>): Promise<{ value: string; label: string }[]> {
  return providers
    .all()
    .filter(({ images }) => images)
    .map(({ id, label }) => ({ value: id, label }));
}
