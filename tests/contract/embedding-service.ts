import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createFakeClock, type FakeClock, type TestHost } from '#testing';
import { startEmbeddingUpstream, type EmbeddingUpstream } from './embedding-upstream.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

const restKey = 'the REST key of these tests';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are compared, not typed.
  readonly body: any;
  readonly text: string;
}

/** The whole site with the service, a REST key, and every provider of embeddings pointed at an upstream of the test. */
export interface EmbeddingService {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly upstream: EmbeddingUpstream;
  /** POST /embeddings; an object is sent as JSON, a text as it is. */
  embed(
    body: unknown,
    init?: { readonly query?: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Answer>;
  stop(): Promise<void>;
}

export const providerKey = 'sk-upstream-0123456789';

export async function startEmbeddingService({
  azureVersion = 'v1',
}: { readonly azureVersion?: string } = {}): Promise<EmbeddingService> {
  const clock = createFakeClock({ skipSleeps: true });
  const upstream = await startEmbeddingUpstream();
  const host = await createMigratedHost({ plugins: ['svc'], clock });
  const baseUrls: Readonly<Record<string, string>> = {
    openai: `${upstream.origin}/v1`,
    openrouter: `${upstream.origin}/api/v1`,
    azure: upstream.origin,
    google: upstream.origin,
    ollama: `${upstream.origin}/v1`,
  };
  host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
    id in baseUrls
      ? {
          ...settings,
          api_key: providerKey,
          base_url: baseUrls[id],
          ...(id === 'azure' && { api_version: azureVersion }),
        }
      : settings,
  );
  await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  return {
    host,
    clock,
    upstream,
    async embed(body, { query = '', headers = { authorization: `Bearer ${restKey}` } } = {}) {
      const response = await host.fetch(`/wp-json/svc/v1/embeddings${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
    async stop() {
      await host.stop();
      await upstream.stop();
    },
  };
}

/** A schema of the official descriptions. */
export function official(spec: 'openai' | 'gemini', schema: string): ValidateFunction {
  const { $defs } = JSON.parse(readFileSync(new URL(`../specs/${spec}-embeddings.json`, import.meta.url), 'utf8')) as {
    $defs: object;
  };
  return new Ajv2020({ strict: false, allErrors: true }).compile({ $defs, $ref: `#/$defs/${schema}` });
}
