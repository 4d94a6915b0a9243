import type { Clock } from '#plugin-api';
import { createFakeClock, createTestHost, type FakeClock, type TestHost } from '#testing';
import { png, startImagesFarEnd, type ImagesFarEnd } from './images-far-end.ts';
import type { Answer } from './service.ts';

const restKey = 'the REST key of these tests';

/** Never to be seen in an answer, a log line or the ledger. */
export const farKey = 'sk-far-end-0123456789abcdef';

/** The whole site with the service, its providers pointed at a far end of the test's own. */
export interface ImagesService {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly farEnd: ImagesFarEnd;
  /** POST /images/generate with the REST key. */
  generate(body: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

export interface ImagesServiceInit {
  /** `postgres://...` or a folder; default memory. */
  readonly database?: string;
  /** Settings of single providers besides the far end's address and key. */
  readonly settings?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Default: a fake one, by which sleeps take no time. */
  readonly clock?: Clock;
}

export async function startImagesService({
  database,
  settings = {},
  clock = createFakeClock({ skipSleeps: true }),
}: ImagesServiceInit = {}): Promise<ImagesService> {
  const farEnd = await startImagesFarEnd();
  const host = await createTestHost({ plugins: ['svc'], clock, ...(database !== undefined && { database }) });
  const bases: Readonly<Record<string, string>> = {
    openai: `${farEnd.origin}/v1`,
    xai: `${farEnd.origin}/v1`,
    openrouter: `${farEnd.origin}/api/v1`,
    azure: farEnd.origin,
    google: farEnd.origin,
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
    farEnd,
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
      await farEnd.stop();
    },
  };
}

/** Base64 of a real PNG. @param shade 0 to 255. */
export const picture = (shade = 0): string => png(shade).toString('base64');

export const failed = (status: number, message: string): { readonly status: number; readonly body: unknown } => ({
  status,
  body: { error: { message, type: 'some_error', code: null } },
});
