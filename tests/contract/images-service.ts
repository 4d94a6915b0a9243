import type { Clock } from '#plugin-api';
import { createFakeClock, type FakeClock, type TestHost } from '#testing';
import { png, startImagesUpstream, type ImagesUpstream } from './images-upstream.ts';
import type { Answer } from './service.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

const restKey = 'the REST key of these tests';

/** Never to be seen in an answer, a log line or the ledger. */
export const farKey = 'sk-upstream-0123456789abcdef';

/** The whole site with the service, its providers pointed at an upstream of the test. */
export interface ImagesService {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly upstream: ImagesUpstream;
  /** POST /images/generate with the REST key. */
  generate(body: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

export interface ImagesServiceInit {
  /** `postgres://...` or a folder; default memory. */
  readonly database?: string;
  /** Settings of single providers besides the upstream's address and key. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Default: a fake one, by which sleeps take no time. */
  readonly clock?: Clock;
}

export async function startImagesService({
  database,
  settings = {},
  clock = createFakeClock({ skipSleeps: true }),
}: ImagesServiceInit = {}): Promise<ImagesService> {
  const upstream = await startImagesUpstream();
  const host = await createMigratedHost({ plugins: ['svc'], clock, ...(database !== undefined && { database }) });
  const bases: Readonly<Record<string, string>> = {
    openai: `${upstream.origin}/v1`,
    xai: `${upstream.origin}/v1`,
    openrouter: `${upstream.origin}/api/v1`,
    azure: upstream.origin,
    google: upstream.origin,
  };
  host.hooks.addFilter('svc_provider_settings', (saved: Readonly<Record<string, unknown>>, id: string) => ({
    ...saved,
    api_key: farKey,
    base_url: bases[id],
    ...settings[id],
  }));
  await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  return {
    host,
    clock: clock as FakeClock,
    upstream,
    async generate(body) {
      const response = await host.fetch('/wp-json/svc/v1/images/generate', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
        body: JSON.stringify(body),
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

/** Base64 of a real PNG. @param shade 0 to 255. */
export const picture = (shade = 0): string => png(shade).toString('base64');

export const failed = (status: number, message: string): { readonly status: number; readonly body: unknown } => ({
  status,
  body: { error: { message, type: 'some_error', code: null } },
});
