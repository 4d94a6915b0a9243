import { checkValue, fillDefaults, mergeChanges, type HostApi, type Infer, invalidFields } from '#plugin-api';
import { flag, group, line, lines, text, whole } from '../../../kit/setting-schemas.ts';
import { imageParamSchemas } from '../../../kit/image-params.ts';
import type { SettingErrors } from '../../../kit/field-errors.ts';
import type { Provider } from '../images.ts';
import { publicImagesOption } from '../image-names.ts';

/** The settings of `[svc_images]`. Of models and sizes, the first is the default. */
export const visitorSchema = group(
  { title: 'Images for visitors' },
  {
    enabled: flag(
      {
        title: 'Let visitors generate images',
        description: 'On pages with [svc_images]. You pay for each image.',
      },
      false,
    ),
    models: lines(
      {
        title: 'Models',
        description: 'One provider:model per line, for example openai:gpt-image-1. The first is the default.',
        ui: { rows: 4, mono: true },
      },
      {
        type: 'string',
        maxLength: 200,
        pattern: '^[a-z0-9]+:\\S(.*\\S)?$',
        rule: 'must be a provider and a model, such as openai:gpt-image-1',
      },
      20,
    ),
    sizes: lines(
      {
        title: 'Sizes',
        description: 'One size per line, for example 1024x1024. Leave empty to use the default of the model.',
        ui: { rows: 4, mono: true },
      },
      { type: 'string', pattern: imageParamSchemas.size.pattern, rule: imageParamSchemas.size.rule },
      20,
    ),
    most: whole({ title: 'Images per request', ui: { short: true } }, 1, [1, 4]),
    guest_per_day: whole(
      {
        title: 'Images per day for a guest',
        description:
          'Counted by session and by IP address; the higher count applies. 0: guests cannot generate images.',
        ui: { short: true },
      },
      3,
      [0, 1000],
    ),
    user_per_day: whole(
      {
        title: 'Images per day for a signed-in user',
        description: '0: users cannot generate images.',
        ui: { short: true },
      },
      10,
      [0, 1000],
    ),
    consent: group(
      { title: 'Terms' },
      {
        required: flag(
          { title: 'Ask for consent', description: 'Visitors tick a box before they generate images.' },
          true,
        ),
        text: text(
          { title: 'Text of the checkbox', ui: { rows: 3 } },
          'I agree that my description is sent to an AI provider, and I describe nothing that harms others.',
          1000,
        ),
      },
    ),
    banned_words: lines(
      {
        title: 'Banned words',
        description: 'One word or phrase per line. A prompt that contains one is refused at no cost.',
        ui: { rows: 6 },
      },
      { type: 'string', maxLength: 100, pattern: '\\S', rule: 'must not be blank' },
      1000,
    ),
    texts: group(
      { title: 'Texts' },
      {
        intro: text({ title: 'Above the form', ui: { rows: 2 } }, '', 500),
        refused: line(
          { title: 'When a prompt is refused' },
          'This description is not allowed. Describe a different image.',
        ),
        limit: line({ title: 'When the daily limit is reached' }, 'You have used today’s images. Try again tomorrow.'),
      },
    ),
  },
);

export type VisitorSettings = Infer<typeof visitorSchema>;

export interface VisitorSettingsStore {
  get(): Promise<VisitorSettings>;
  /** Merges and stores. @throws RestError 400 `rest_invalid_param` with a sentence for every bad member. */
  update(changes: unknown): Promise<VisitorSettings>;
}

export function createVisitorSettings({
  host,
  providers,
}: {
  readonly host: Pick<HostApi, 'options'>;
  readonly providers: () => Promise<readonly Provider[]>;
}): VisitorSettingsStore {
  const get = async (): Promise<VisitorSettings> =>
    fillDefaults(visitorSchema, await host.options.get<unknown>(publicImagesOption, {}), 'drop') as VisitorSettings;
  return {
    get,
    async update(changes) {
      const next = mergeChanges(visitorSchema, await get(), changes);
      const errors = { ...checkValue(visitorSchema, next).errors };
      if (Object.keys(errors).length === 0)
        Object.assign(errors, modelErrors(next as VisitorSettings, await providers()));
      if (Object.keys(errors).length > 0) throw invalidFields(errors);
      await host.options.update(publicImagesOption, next);
      return next as VisitorSettings;
    },
  };
}

function modelErrors({ enabled, models }: VisitorSettings, providers: readonly Provider[]): SettingErrors {
  const errors: Record<string, string> = {};
  if (enabled && models.length === 0)
    errors['models'] =
      'models must contain at least one model, such as openai:gpt-image-1, before you can turn this on.';
  models.forEach((entry, at) => {
    const { provider } = readModel(entry);
    if (!providers.some(({ id, images }) => id === provider && images !== undefined))
      errors[`models[${String(at)}]`] =
        `models[${String(at)}] names “${provider}”, which is not a provider that can generate images.`;
  });
  return errors;
}

/** Splits `openai:gpt-image-1`. */
export function readModel(entry: string): { readonly provider: string; readonly model: string } {
  const at = entry.indexOf(':');
  return { provider: entry.slice(0, at), model: entry.slice(at + 1).trim() };
}
