import type { ModelInfo } from '../providers/provider.ts';
import type { ModelList, ModelLists } from './models/model-lists.ts';

/** What a real call to a provider found. */
export interface ProviderProbe {
  readonly ok: boolean;
  readonly models: readonly Pick<ModelInfo, 'id' | 'kinds'>[];
  readonly milliseconds: number;
  /** One sentence for a person: what works, or the provider's own message. */
  readonly message: string;
}

export interface ProviderTester {
  /** Makes a real call with the settings in force; remembers the models it found. */
  test(providerId: string, signal?: AbortSignal): Promise<ProviderProbe>;
  /** The models the last test that worked found, to choose from. */
  models(providerId: string): Promise<ModelList>;
}

export interface ProviderTesterParts {
  readonly probe: (providerId: string, options: { readonly signal?: AbortSignal }) => Promise<ProviderProbe>;
  readonly lists: ModelLists;
}

export function createProviderTester({ probe, lists }: ProviderTesterParts): ProviderTester {
  return {
    async test(providerId, signal) {
      const found = await probe(providerId, signal ? { signal } : {});
      if (found.models.length > 0) await lists.remember(providerId, found.models);
      return found;
    },
    models: (providerId) => lists.get(providerId),
  };
}
