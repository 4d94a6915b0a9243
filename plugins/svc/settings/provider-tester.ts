import type { ModelInfo } from '../providers/provider.ts';
import type { ModelList, ModelLists } from './model-lists.ts';

/** The result of a test call to a provider. */
export interface ProviderProbe {
  readonly ok: boolean;
  readonly models: readonly Pick<ModelInfo, 'id' | 'kinds'>[];
  readonly milliseconds: number;
  /** One sentence: what works, or the message of the provider. */
  readonly message: string;
}

export interface ProviderTester {
  /** Makes a real call with the current settings and stores the models it found. */
  test(providerId: string, signal?: AbortSignal): Promise<ProviderProbe>;
  /** The models of the last successful test. */
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
