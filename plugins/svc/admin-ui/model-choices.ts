import type { Choice } from '#plugin-api';
import { missingSettings } from '../settings/configured.ts';
import { modelsOfKind } from '../settings/model-lists.ts';
import type { SettingsContext } from '../settings/settings.ts';

export type Providers = Pick<SettingsContext, 'providers' | 'settings' | 'tester'>;

/** Maximum number of names in a list. */
const maxOffered = 500;

/** Providers to choose from. Those that are not configured are marked. */
export async function providerChoices(
  { providers, settings }: Providers,
  capability: 'text' | 'images' | 'embeddings',
): Promise<Choice[]> {
  const all = (await providers.all()).filter((provider) => provider[capability]);
  return Promise.all(
    all.map(async (provider) => {
      const missing = missingSettings(provider, await settings.provider(provider.id));
      return {
        value: provider.id,
        label: missing.length === 0 ? provider.label : `${provider.label} (not configured)`,
      };
    }),
  );
}

export interface OfferedModels {
  /** Id of the provider. */
  readonly id: string;
  readonly text: readonly string[];
  readonly embedding: readonly string[];
}

/** The known models of every provider. A field offers those of the selected provider. */
export async function offeredModels({ providers, tester }: Providers): Promise<OfferedModels[]> {
  const all = await providers.all();
  return Promise.all(
    all.map(async ({ id }) => {
      const list = await tester.models(id);
      return {
        id,
        text: modelsOfKind(list, 'text').slice(0, maxOffered),
        embedding: modelsOfKind(list, 'embedding').slice(0, maxOffered),
      };
    }),
  );
}
