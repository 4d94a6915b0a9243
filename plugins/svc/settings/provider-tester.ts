import type { OptionsApi } from '#plugin-api';
import { modelsTransient } from './names.ts';

/** What a real call to a provider found. */
export interface ProviderProbe {
  readonly ok: boolean;
  readonly models: readonly { readonly id: string }[];
  readonly milliseconds: number;
  /** One sentence for a person: what works, or the provider's own message. */
  readonly message: string;
}

export interface ProviderTester {
  /** Makes a real call with the settings in force; remembers the models it found. */
  test(providerId: string, signal?: AbortSignal): Promise<ProviderProbe>;
  /** Ids of the models the last test that worked found, to choose from. */
  models(providerId: string): Promise<readonly string[]>;
}

export interface ProviderTesterParts {
  readonly probe: (providerId: string, options: { readonly signal?: AbortSignal }) => Promise<ProviderProbe>;
  readonly options: Pick<OptionsApi, 'getTransient' | 'setTransient'>;
}

const rememberedModels = 1000;
const rememberedSeconds = 90 * 24 * 3600;

export function createProviderTester({ probe, options }: ProviderTesterParts): ProviderTester {
  return {
    async test(providerId, signal) {
      const found = await probe(providerId, signal ? { signal } : {});
      const models = [...new Set(found.models.map((model) => model.id))].sort();
      if (models.length > 0) await options.setTransient(modelsTransient(providerId), models.slice(0, rememberedModels), rememberedSeconds);
      return found;
    },
    async models(providerId) {
      const models = await options.getTransient<unknown>(modelsTransient(providerId));
      return Array.isArray(models) ? models.filter((model): model is string => typeof model === 'string') : [];
    },
  };
}
