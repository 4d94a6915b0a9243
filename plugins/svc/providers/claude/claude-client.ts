import { trimTrailingSlashes } from '#plugin-api';
import type { Anthropic } from '@anthropic-ai/sdk';
import { createClientCache } from '../../kit/caches.ts';
import type { ProviderConnection } from '../provider.ts';
import { claudeAddress, samplingVersion } from './claude-models.ts';

/** The account's client, built once per access. The SDK is loaded by the first call. */
export function createClaudeClients(): (connection: ProviderConnection) => Promise<Anthropic> {
  const cache = createClientCache<Anthropic>();
  return ({ settings, fetch }) => {
    const access = {
      baseURL: trimTrailingSlashes(settings.base_url || claudeAddress).replace(/\/v1$/, ''),
      apiKey: settings.api_key ?? '',
      version: settings.api_version || samplingVersion,
    };
    return cache.get(fetch, [access], () => buildClient(access, fetch));
  };
}

interface Access {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly version: string;
}

/**
 * The SDK would send the key as a bearer token, and an API version that refuses sampling parameters: both headers are set here.
 * A key that is passed keeps it from looking for credentials on the machine.
 */
async function buildClient({ baseURL, apiKey, version }: Access, fetch: typeof globalThis.fetch): Promise<Anthropic> {
  const { Anthropic: Client } = await import('@anthropic-ai/sdk');
  return new Client({
    apiKey,
    webhookKey: null,
    baseURL,
    defaultHeaders: { authorization: null, 'x-api-key': apiKey, 'anthropic-version': version },
    fetch,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
  });
}
