import type { Images, Provider } from '../images.ts';
import { formatMoney, type FieldErrors } from '#plugin-api';
import { imageParamSchemas, supportedImageFields, type ImageParams } from '../../../kit/image-params.ts';
import { missingSettings } from '../../../settings/configured.ts';
import { modelsOfKind } from '../../../settings/model-lists.ts';

export function imageProviders(
  { providers }: Pick<Images, 'providers'>,
  mode: 'generate' | 'edit',
): readonly Provider[] {
  return providers
    .all()
    .filter(({ images }) => images !== undefined && (mode === 'generate' || images.editing !== undefined));
}

interface ProviderChoice {
  readonly value: string;
  readonly label: string;
  readonly isReady: boolean;
  readonly defaultModel: string;
  /** Models of the last listing that can do it. */
  readonly models: readonly string[];
  /** What the field starts with: a model that can do it, if the saved one cannot. */
  readonly initialModel: string;
}

/** Maximum number of names in a list. */
const maxOffered = 200;

/** Configured providers come first. */
export async function providerChoices(
  parts: Pick<Images, 'providers' | 'settings' | 'tester'>,
  mode: 'generate' | 'edit',
): Promise<ProviderChoice[]> {
  const choices = await Promise.all(
    imageProviders(parts, mode).map(async (provider) => {
      const settings = await parts.settings.provider(provider.id);
      const isReady = missingSettings(provider, settings).length === 0;
      const schema = provider.settings.properties['image_model'];
      const defaultModel =
        typeof settings.image_model === 'string' && settings.image_model !== ''
          ? settings.image_model
          : typeof schema?.default === 'string'
            ? schema.default
            : '';
      const canDo = (model: string): boolean =>
        mode === 'generate' || provider.images?.editing?.accepts(model, settings) !== null;
      const models = modelsOfKind(await parts.tester.models(provider.id), 'image')
        .filter(canDo)
        .slice(0, maxOffered);
      return {
        value: provider.id,
        label: isReady ? provider.label : `${provider.label} (not configured)`,
        isReady,
        defaultModel,
        models,
        initialModel: canDo(defaultModel)
          ? ''
          : (models[0] ?? [schema?.default].filter((name) => typeof name === 'string').find(canDo) ?? ''),
      };
    }),
  );
  return choices.sort((left, right) => Number(right.isReady) - Number(left.isReady));
}

interface ModelFields extends ImageFields {
  readonly model: string;
  /** Null: the model cannot edit images. */
  readonly edit: ImageEditRules | null;
  /** Per image, in millionths of a US dollar. Null: unknown in advance, for example with prices per token. */
  readonly price: number | null;
}

const allFields: ImageFields = { size: true, quality: ['standard', 'hd'], style: true };

/** Blank values take the saved ones. */
interface ModelChoice {
  readonly provider: string;
  readonly model: string;
  readonly size: string;
  readonly quality: string;
}

export async function modelFields(
  parts: Images,
  { provider: id, model: asked, ...chosen }: ModelChoice,
): Promise<ModelFields> {
  const provider = parts.providers.all().find((one) => one.id === id);
  const settings = await parts.settings.provider(id);
  const model =
    asked ||
    (typeof settings.image_model === 'string' ? settings.image_model : '') ||
    String(provider?.settings.properties['image_model']?.default ?? '');
  const fields = provider?.images?.takes?.(model, settings) ?? allFields;
  const saved = await parts.settings.imageDefaults();
  const priced = supportedImageFields(
    { size: chosen.size || saved.size, quality: chosen.quality || saved.quality } as ImageParams,
    fields,
  );
  const price = await parts.costOf({ provider: id, model, inputTokens: 0, outputTokens: 0, images: 1, ...priced });
  return { ...fields, model, edit: provider?.images?.editing?.accepts(model, settings) ?? null, price };
}

type ProviderImages = NonNullable<Provider['images']>;
type ImageFields = ReturnType<NonNullable<ProviderImages['takes']>>;
type ImageEditRules = NonNullable<ReturnType<NonNullable<ProviderImages['editing']>['accepts']>>;
type Values = Readonly<Record<string, unknown>>;

/** What was entered, with what is wrong with it. */
export interface TypedJob {
  readonly values: Values;
  readonly errors?: FieldErrors;
}

const numbers = Array.from({ length: 10 }, (_, index) => ({ value: String(index + 1), label: String(index + 1) }));
const savedSetting = { value: '', label: 'Saved setting' };
const labels: Readonly<Record<string, string>> = {
  standard: 'Standard',
  hd: 'High',
  vivid: 'Vivid',
  natural: 'Natural',
};
export const paramLabel = (value: string): string => labels[value] ?? value;
const choice = (value: string): { value: string; label: string } => ({ value, label: paramLabel(value) });

/** The fields of a job: entered values, errors, and what the model supports. */
export async function jobForm(
  parts: Images,
  { mode, values, errors = {} }: TypedJob & { readonly mode: 'generate' | 'edit' },
) {
  const providers = await providerChoices(parts, mode);
  const text = (name: string): string => (typeof values[name] === 'string' ? values[name] : '');
  const provider = providers.find(({ value }) => value === text('provider')) ?? providers[0];
  const model = text('model') || (provider?.initialModel ?? '');
  const fields = await modelFields(parts, {
    provider: provider?.value ?? '',
    model,
    size: text('size'),
    quality: text('quality'),
  });
  return {
    prompt: text('prompt'),
    provider: provider?.value ?? '',
    providers: providers.map(({ value, label }) => ({ value, label })),
    isReady: providers.some(({ isReady }) => isReady),
    model,
    defaultModel: provider?.defaultModel ?? '',
    models: providers.map(({ value, models, defaultModel, initialModel }) => ({
      id: value,
      defaultModel,
      initialModel,
      models,
    })),
    offered: provider?.models ?? [],
    n: text('n') || '1',
    numbers,
    size: text('size'),
    sizes: imageParamSchemas.size.examples,
    takes: fields,
    quality: text('quality'),
    qualities: [savedSetting, ...imageParamSchemas.quality.enum.map(choice)],
    style: text('style'),
    styles: [savedSetting, ...imageParamSchemas.style.enum.map(choice)],
    priceText: priceText(fields.price),
    errors,
  };
}

/** The expected cost of an image. */
export function priceText(price: number | null): string {
  if (price === null) return 'The cost depends on the tokens used. See Usage afterwards.';
  return price === 0 ? 'Sandbox mode is on: images cost nothing.' : `About ${formatMoney(price)} per image.`;
}
