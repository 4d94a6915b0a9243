import { RestError } from '#plugin-api';
import { asProviderError, type ModelInfo, type Provider } from '../providers/provider.ts';
import { reachProvider } from '../providers/reach-provider.ts';
import type { AiServices } from './ports.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { providerFailure } from './upstream-failure.ts';

export interface ProviderTest {
  readonly ok: boolean;
  /** Models the account may use; empty when the far end lists none. */
  readonly models: readonly ModelInfo[];
  /** How long the call took. */
  readonly milliseconds: number;
  /** One sentence for a person: what works, or the provider's own message. */
  readonly message: string;
}

export type TestProvider = (id: string, options?: { readonly signal?: AbortSignal }) => Promise<ProviderTest>;

const limit = 20_000;

/** Tries a provider's saved settings with a real call: its models are listed, or, where it has no listing, one word is asked for. Made once, without further tries. */
export function createTestProvider(services: AiServices): TestProvider {
  const { registry, host } = services;
  return async (id, { signal } = {}) => {
    const started = host.clock.now();
    const finish = (test: Omit<ProviderTest, 'milliseconds'>): ProviderTest => ({
      ...test,
      milliseconds: host.clock.now() - started,
    });
    const provider = registry.get(id);
    if (provider === undefined) return finish({ ok: false, models: [], message: `There is no provider named ${id}.` });
    try {
      const settings = await configuredSettings(provider, services);
      const models = await reachProvider(provider, connectionOf(services, { settings, timeout: limit, signal }));
      const took = `${String(host.clock.now() - started)} ms`;
      return finish({
        ok: true,
        models,
        message: models.length === 0 ? `Works, ${took}.` : `Works, ${counted(models.length)}, ${took}.`,
      });
    } catch (thrown) {
      return finish({ ok: false, models: [], message: messageOf(thrown, provider) });
    }
  };
}

function counted(models: number): string {
  return models === 1 ? '1 model' : `${String(models)} models`;
}

function messageOf(thrown: unknown, provider: Provider): string {
  const error = asProviderError(thrown);
  if (error !== null) return providerFailure(error, provider, limit).message;
  if (thrown instanceof RestError) return thrown.message;
  throw thrown;
}
