import type { ServiceContext } from '../../../wiring.ts';
import type { ImageEditRules, ImageFields, Provider } from '../provider-types.ts';
import { missingSettings } from '../../../settings/configured.ts';
import { modelsOfKind } from '../../../settings/model-lists.ts';

/** Providers that draw, or that edit. */
export async function imageProviders(
  { providers }: Pick<ServiceContext, 'providers'>,
  act: 'generate' | 'edit',
): Promise<readonly Provider[]> {
  return (await providers.all()).filter(
    ({ images }) => images !== undefined && (act === 'generate' || images.editing !== undefined),
  );
}

export interface ProviderChoice {
  readonly value: string;
  readonly label: string;
  readonly isReady: boolean;
  /** The one that is taken where none is named. */
  readonly usual: string;
  /** Those last seen. */
  readonly models: readonly string[];
}

/** Names in a list to choose from; more of them help nobody. */
const mostOffered = 200;

/** Providers to choose from, those first that are set up. */
export async function providerChoices(
  context: Pick<ServiceContext, 'providers' | 'settings' | 'tester'>,
  act: 'generate' | 'edit',
): Promise<ProviderChoice[]> {
  const choices = await Promise.all(
    (await imageProviders(context, act)).map(async (provider) => {
      const settings = await context.settings.provider(provider.id);
      const isReady = missingSettings(provider, settings).length === 0;
      const schema = provider.settings.properties['image_model'];
      const usual =
        typeof settings.image_model === 'string' && settings.image_model !== ''
          ? settings.image_model
          : typeof schema?.default === 'string'
            ? schema.default
            : '';
      const models = modelsOfKind(await context.tester.models(provider.id), 'image').slice(0, mostOffered);
      return {
        value: provider.id,
        label: isReady ? provider.label : `${provider.label} (not set up)`,
        isReady,
        usual,
        models,
      };
    }),
  );
  return choices.sort((left, right) => Number(right.isReady) - Number(left.isReady));
}

/** What a form offers for a model, and what it knows of its price. */
export interface ModelFields extends ImageFields {
  readonly model: string;
  /** Null: it edits nothing. */
  readonly edit: ImageEditRules | null;
  /** Of one image, in millionths of a US dollar; null: not known before, as for models that are paid by tokens. */
  readonly price: number | null;
}

const anything: ImageFields = { size: true, quality: ['standard', 'hd'], style: true };

export async function modelFields(
  context: ServiceContext,
  { provider: id, model: asked }: { readonly provider: string; readonly model: string },
): Promise<ModelFields> {
  const provider = (await context.providers.all()).find((one) => one.id === id);
  const settings = await context.settings.provider(id);
  const model =
    asked ||
    (typeof settings.image_model === 'string' ? settings.image_model : '') ||
    String(provider?.settings.properties['image_model']?.default ?? '');
  const fields = provider?.images?.takes?.(model, settings) ?? anything;
  const price = await context.costOf({ provider: id, model, inputTokens: 0, outputTokens: 0, images: 1 });
  return { ...fields, model, edit: provider?.images?.editing?.accepts(model, settings) ?? null, price };
}
