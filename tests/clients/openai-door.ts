import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';

export const restKey = 'the REST key of these tests';

export interface Door {
  readonly host: TestHost;
  /** Base URL of the routes. */
  readonly url: string;
  /** Sends a body to a route below it, or fetches it without one. */
  send(
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }>;
}

/** A site whose providers are the sandbox's. */
export async function startDoor(): Promise<Door> {
  const host = await createTestHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
  await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  await host.options.update('svc_sandbox', true);
  const url = `${host.url}/wp-json/svc-openai/v1`;
  return {
    host,
    url,
    async send(path, body) {
      const response = await fetch(`${url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${restKey}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json(), headers: response.headers };
    },
  };
}
