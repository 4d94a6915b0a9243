import type { HostApi } from '#plugin-api';
import { createSchemaCheck, type SettingErrors } from '../../../kit/settings-schema/check-shape.ts';
import { flag, group, line, text, whole, type SettingSchema } from '../../../kit/settings-schema/fields.ts';
import { fillDefaults, mergeChanges } from '../../../kit/settings-schema/fill.ts';
import { invalidFields } from '../../../kit/field-errors.ts';
import type { Provider } from '../provider-types.ts';
import { publicImagesOption } from '../image-names.ts';

/** What visitors may have drawn. */
export interface VisitorSettings {
  readonly enabled: boolean;
  /** `provider:model`; the first is the usual one. */
  readonly models: readonly string[];
  /** `1024x1024`; none: the model's own. The first is the usual one. */
  readonly sizes: readonly string[];
  /** Images of one request, 1 to 4. */
  readonly most: number;
  /** Images a day; 0: they may not draw. */
  readonly guest_per_day: number;
  readonly user_per_day: number;
  readonly consent: { readonly required: boolean; readonly text: string };
  readonly banned_words: readonly string[];
  /** What visitors read when their prompt is refused, and when their images of the day are used up. */
  readonly texts: { readonly intro: string; readonly refused: string; readonly limit: string };
}

const lines = (
  words: { readonly title: string; readonly description: string },
  items: SettingSchema,
  maxItems: number,
): SettingSchema => ({ type: 'array', ...words, default: [], maxItems, items });

export const visitorSchema = group<VisitorSettings>(
  { title: 'Images for visitors' },
  {
    enabled: flag(
      {
        title: 'Visitors may have images drawn',
        description: 'Where a page holds [svc_images]. Each image costs what its model does.',
      },
      false,
    ),
    models: lines(
      {
        title: 'Models',
        description: 'Provider and model, one a line: openai:gpt-image-1. The first is the usual one.',
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
      { title: 'Sizes', description: 'One a line: 1024x1024. None: what the model draws by itself.' },
      {
        type: 'string',
        pattern: '^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$',
        rule: 'must be a width and a height, such as 1024x1024',
      },
      20,
    ),
    most: whole({ title: 'Images at a time' }, 1, [1, 4]),
    guest_per_day: whole(
      {
        title: 'Images a day for a guest',
        description: 'By session and by address, whichever has drawn more. 0: guests may not.',
      },
      3,
      [0, 1000],
    ),
    user_per_day: whole({ title: 'Images a day for a signed-in user', description: '0: they may not.' }, 10, [0, 1000]),
    consent: group<VisitorSettings['consent']>(
      { title: 'Terms' },
      {
        required: flag({ title: 'Ask for consent', description: 'A box to tick before anything is drawn.' }, true),
        text: text(
          { title: 'Text of the box' },
          'I agree that my description is sent to an AI provider, and I describe nothing that harms others.',
          1000,
        ),
      },
    ),
    banned_words: lines(
      { title: 'Banned words', description: 'One a line. A prompt that holds one is refused, and nothing is spent.' },
      { type: 'string', maxLength: 100, pattern: '\\S', rule: 'must not be blank' },
      1000,
    ),
    texts: group<VisitorSettings['texts']>(
      { title: 'Texts' },
      {
        intro: text({ title: 'Above the form' }, '', 500),
        refused: line({ title: 'When a prompt is refused' }, 'This cannot be drawn here. Describe something else.'),
        limit: line(
          { title: 'When the images of the day are used up' },
          'You have drawn all your images of today. Come back tomorrow.',
        ),
      },
    ),
  },
);

const checkShape = createSchemaCheck(visitorSchema);

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
      const errors = { ...checkShape(next) };
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
    errors['models'] = 'models must hold at least one before visitors may draw. Write it like openai:gpt-image-1.';
  models.forEach((entry, at) => {
    const { provider } = readModel(entry);
    if (!providers.some(({ id, images }) => id === provider && images !== undefined))
      errors[`models[${String(at)}]`] = `models[${String(at)}] names “${provider}”, which is no provider that draws.`;
  });
  return errors;
}

/** `openai:gpt-image-1` in its two parts. */
export function readModel(entry: string): { readonly provider: string; readonly model: string } {
  const at = entry.indexOf(':');
  return { provider: entry.slice(0, at), model: entry.slice(at + 1).trim() };
}
