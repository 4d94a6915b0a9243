import type { Clock, OptionsApi } from '#plugin-api';
import { ProviderError, type Provider, type ProviderConnection, type ProviderSettings } from '../providers/provider.ts';
import { fieldLabel } from './field-value.ts';
import { modelsTransient } from './names.ts';
import { missingSettings, type ProviderStore } from './provider-store.ts';

/** What a real call to a provider found. `sentence` is fit for a person: how well it works, or the provider's own message. */
export type ProviderTest =
  | { readonly works: true; readonly models: readonly string[]; readonly milliseconds: number; readonly sentence: string }
  | { readonly works: false; readonly sentence: string };

export interface ProviderTester {
  /** Asks the provider for its models with the settings in force, once, without retries. Never throws for what the provider does. */
  test(provider: Provider, signal?: AbortSignal): Promise<ProviderTest>;
  /** Ids of the models the last test that worked found. */
  models(providerId: string): Promise<readonly string[]>;
}

export interface ProviderTesterParts {
  readonly store: Pick<ProviderStore, 'effective'>;
  readonly options: Pick<OptionsApi, 'getTransient' | 'setTransient'>;
  readonly clock: Clock;
  readonly connect: (init: { readonly provider: Provider; readonly settings: ProviderSettings; readonly timeout: number; readonly signal?: AbortSignal }) => ProviderConnection;
}

const timeout = 20_000;
const rememberedModels = 1000;
const remembersSeconds = 90 * 24 * 3600;

export function createProviderTester({ store, options, clock, connect }: ProviderTesterParts): ProviderTester {
  return {
    async test(provider, signal) {
      const settings = await store.effective(provider.id);
      const missing = missingSettings(provider, settings);
      if (missing.length > 0) return { works: false, sentence: notConfigured(provider, missing) };
      const begun = clock.now();
      try {
        const found = await provider.listModels(connect({ provider, settings, timeout, ...(signal && { signal }) }));
        const milliseconds = Math.round(clock.now() - begun);
        const models = [...new Set(found.map((model) => model.id))].sort();
        await options.setTransient(modelsTransient(provider.id), models.slice(0, rememberedModels), remembersSeconds);
        return { works: true, models, milliseconds, sentence: `${provider.label} works, ${count(models.length)}, ${milliseconds} ms.` };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return { works: false, sentence: failure(provider, error) };
      }
    },
    async models(providerId) {
      const models = await options.getTransient<unknown>(modelsTransient(providerId));
      return Array.isArray(models) ? models.filter((model): model is string => typeof model === 'string') : [];
    },
  };
}

/** Which settings are still to be filled in, in one sentence. */
export function notConfigured(provider: Provider, missing: readonly string[]): string {
  const names = missing.map((name) => fieldLabel(name, provider.settings.properties[name] ?? {}));
  return `${provider.label} is not configured. Fill in: ${names.join(', ')}.`;
}

function count(models: number): string {
  return models === 1 ? '1 model' : `${models} models`;
}

function failure(provider: Provider, error: ProviderError): string {
  const status = error.status === null ? '' : ` (${error.status})`;
  switch (error.kind) {
    case 'timeout':
      return `${provider.label} did not answer within ${timeout / 1000} seconds.`;
    case 'auth':
      return `${provider.label} refused the credentials${status}: ${error.message}`;
    case 'connection':
      return `${provider.label} cannot be reached: ${error.message}`;
    case 'aborted':
    case 'rate_limited':
    case 'rejected':
    case 'unavailable':
    case 'unreadable':
      return `${provider.label} answered${status}: ${error.message}`;
  }
}
