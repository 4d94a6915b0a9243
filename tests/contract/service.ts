import { createFakeClock, type FakeClock, type TestHost, type TestHostInit } from '#testing';
import { startUpstream, type Upstream } from './upstream.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

export const restKey = 'the REST key of these tests';

/** The whole site with the service, a REST key, and openai pointed at an upstream of the test. */
export interface Service {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly upstream: Upstream;
  /** POST /generate; an object is sent as JSON, a text as it is. The REST key goes along unless `headers` are given. */
  generate(body: unknown, headers?: Readonly<Record<string, string>>, query?: string): Promise<Answer>;
  saveRestKey(key: string): Promise<void>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are compared, not typed.
  readonly body: any;
  readonly text: string;
}

export const goodRequest = { provider: 'openai', model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

/** For another node of a site: its database, its clock and its upstream, which the first one stops. */
export interface ServiceInit extends Pick<TestHostInit, 'database' | 'env'> {
  readonly clock?: FakeClock;
  readonly upstream?: Upstream;
}

export async function startService(init: ServiceInit = {}): Promise<Service> {
  const { clock = createFakeClock({ skipSleeps: true }), upstream: shared, ...site } = init;
  const upstream = shared ?? (await startUpstream());
  const host = await createMigratedHost({ plugins: ['svc', 'sandbox'], clock, ...site });
  host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
    id === 'openai' ? { ...settings, api_key: 'sk-upstream', base_url: upstream.url } : settings,
  );
  const saveRestKey = async (key: string): Promise<void> => {
    await host.options.update('svc_api_key', key === '' ? '' : host.secrets.encrypt(key));
  };
  await saveRestKey(restKey);
  return {
    host,
    clock,
    upstream,
    saveRestKey,
    async generate(body, headers = { authorization: `Bearer ${restKey}` }, query = '') {
      const response = await host.fetch(`/wp-json/svc/v1/generate${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
    async stop() {
      await host.stop();
      if (shared === undefined) await upstream.stop();
    },
  };
}
