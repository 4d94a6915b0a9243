import type { ContentWriter } from '../content-writer.ts';
import type { AiParams } from '../../../kit/ai-params.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { providerChoices } from '../../../admin-ui/model-choices.ts';
import { errorAt, readNumber, valueAt } from '../../../admin-ui/setting-field.ts';
import { placeholders } from '../templates/placeholders.ts';
import {
  partLabels,
  partNames,
  type PartName,
  type PartSettings,
  type TemplateSettings,
} from '../templates/template.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Reads a template form over its base template. Values of the wrong type stay, so that the check refuses them. */
export function readTemplateForm(form: Fields, base: TemplateSettings): Record<string, unknown> {
  const text = (path: string, before: string): string => {
    const typed = valueAt(form, path);
    return typeof typed === 'string' ? typed.replaceAll('\r\n', '\n') : before;
  };
  return {
    name: text('name', base.name).trim(),
    description: text('description', base.description).trim(),
    kind: text('kind', base.kind),
    provider: text('provider', base.provider),
    model: text('model', base.model).trim(),
    system: text('system', base.system),
    params: base.params,
    parts: Object.fromEntries(partNames.map((name) => [name, readPart(form, name, base.parts[name])])),
  };
}

function readPart(form: Fields, name: PartName, base: PartSettings): Record<string, unknown> {
  const typed = valueAt(form, `parts.${name}`);
  if (typeof typed !== 'object' || typed === null) return { ...base };
  const fields = typed as Fields;
  const text = (key: 'prompt' | 'provider' | 'model' | 'size'): string =>
    typeof fields[key] === 'string' ? fields[key].replaceAll('\r\n', '\n') : base[key];
  return {
    enabled: 'enabled' in fields ? fields['enabled'] === '1' : base.enabled,
    prompt: text('prompt'),
    provider: text('provider'),
    model: text('model').trim(),
    size: text('size').trim(),
    params: readParams(fields, base.params),
  };
}

/** Only two parameters have fields; the others are set by commands and stay. */
function readParams(fields: Fields, base: AiParams): Record<string, unknown> {
  const params = new Map<string, unknown>(Object.entries(base));
  for (const key of ['temperature', 'max_completion_tokens']) {
    if (typeof fields[key] !== 'string') continue;
    const value = readNumber(fields[key]);
    if (value === null) params.delete(key);
    else params.set(key, value);
  }
  return Object.fromEntries(params);
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
  const field = (path: string, label: string, more: Fields = {}) => ({
    id: `content-${path.replaceAll('.', '-')}`,
    name: fieldName(path),
    label,
    value: valueAt(settings, path) ?? '',
    error: errorAt(errors, { path, label }),
    ...more,
  });
  return {
    provider: field('provider', 'Provider', {
      type: 'select',
      options: [{ value: '', label: 'First connected provider' }, ...texts],
    }),
    model: field('model', 'Model', { mono: true, placeholder: "Provider's default", list: 'content-models' }),
    system: field('system', 'Instructions for all sections', { type: 'textarea', rows: 4 }),
    parts: partNames.map((name) => ({
      name,
      title: partLabels[name],
      isImage: name === 'image',
      enabledName: fieldName(`parts.${name}.enabled`),
      enabledId: `content-part-${name}`,
      enabled: valueAt(settings, `parts.${name}.enabled`) === true,
      hasError: Object.keys(errors).some((path) => path.startsWith(`parts.${name}.`)),
      prompt: field(`parts.${name}.prompt`, 'Prompt', { type: 'textarea', rows: name === 'content' ? 8 : 4 }),
      provider: field(`parts.${name}.provider`, 'Provider', {
        type: 'select',
        options:
          name === 'image' ? [{ value: '', label: 'First connected image provider' }, ...images] : [own, ...texts],
      }),
      model: field(`parts.${name}.model`, 'Model', {
        mono: true,
        placeholder: name === 'image' ? "Provider's default" : 'Same as the template',
      }),
      temperature: field(`parts.${name}.params.temperature`, 'Temperature', {
        type: 'number',
        min: 0,
        max: 2,
        step: 'any',
        short: true,
      }),
      longest: field(`parts.${name}.params.max_completion_tokens`, 'Maximum tokens', {
        type: 'number',
        min: 1,
        max: 128_000,
        short: true,
      }),
      size: field(`parts.${name}.size`, 'Size', { placeholder: '1024x1024', short: true }),
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
