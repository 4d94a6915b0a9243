import { RestError, formatCount, outboundReason } from '#plugin-api';
import { asProviderError, type ModelInfo, type Provider } from '../providers/provider.ts';
import { reachProvider } from '../providers/reach-provider.ts';
import type { AiServices } from './ports.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { providerFailure } from './upstream-failure.ts';

export interface ProviderTest {
  readonly ok: boolean;
  /** Models the account may use; empty if the provider does not list them. */
  readonly models: readonly ModelInfo[];
  readonly milliseconds: number;
  /** A sentence for the page: the result, or the provider's error. */
  readonly message: string;
}

export type TestProvider = (id: string, options?: { readonly signal?: AbortSignal }) => Promise<ProviderTest>;

const limit = 20_000;

/**
 * Tests a provider's saved settings with one real call, without retries: lists its models, or generates one word if
 * it cannot list them.
 */
export function createTestProvider(services: AiServices): TestProvider {
  const { registry, host } = services;
  return async (id, { signal } = {}) => {
    const started = host.clock.now();
    const finish = (test: Omit<ProviderTest, 'milliseconds'>): ProviderTest => ({
      ...test,
      milliseconds: host.clock.now() - started,
    });
    const provider = registry.get(id);
    if (provider === undefined) return finish({ ok: false, models: [], message: `Unknown provider ${id}.` });
    try {
      const settings = await configuredSettings(provider, services);
      const models = await reachProvider(provider, connectionOf(services, { settings, timeout: limit, signal }));
      const took = `${String(host.clock.now() - started)} ms`;
      return finish({
        ok: true,
        models,
        message: models.length === 0 ? `Works, ${took}.` : `Works, ${formatCount(models.length, 'model')}, ${took}.`,
      });
    } catch (thrown) {
      return finish({ ok: false, models: [], message: errorMessage(thrown, provider) });
    }
  };
}

/** For an administrator: with the reason of the outbound guard. */
function errorMessage(thrown: unknown, provider: Provider): string {
  const error = asProviderError(thrown);
  const reason = outboundReason(thrown);
  if (error !== null) return [providerFailure(error, provider, limit).message, reason ?? ''].join(' ').trim();
  if (thrown instanceof RestError) return thrown.message;
  throw thrown;
}
