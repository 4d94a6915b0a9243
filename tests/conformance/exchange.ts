import nock from 'nock';
import { createSystemClock } from '../../host/clock.ts';
import type { ProviderConnection, TextRequest } from '../../plugins/svc/providers/provider.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { currentFetch } from '../helpers/recorded-responses.ts';
import type { Upstream, JsonBody } from './upstream.ts';

/** What reached the upstream. */
export interface Sent {
  body: JsonBody;
  headers: Readonly<Record<string, string>>;
  count: number;
}

export interface Recorded {
  readonly status?: number;
  readonly body: JsonBody | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How often it is answered. Default once. */
  readonly times?: number;
}

/** Lets the upstream give a recorded answer to a generation. */
export function answering(upstream: Upstream, { status = 200, body, headers = {}, times = 1 }: Recorded): Sent {
  const sent: Sent = { body: {}, headers: {}, count: 0 };
  nock(upstream.origin)
    .post(upstream.generatePath)
    .times(times)
    .reply(function (_uri, received) {
      sent.count += 1;
      sent.body = received as JsonBody;
      sent.headers = this.req.headers as unknown as Sent['headers'];
      const type = typeof body === 'string' ? 'text/html' : 'application/json';
      return [status, body, { 'content-type': type, ...headers }];
    });
  return sent;
}

export function connectionTo(upstream: Upstream, changes: Partial<ProviderConnection> = {}): ProviderConnection {
  return {
    settings: upstream.settings,
    fetch: currentFetch,
    clock: createSystemClock(),
    log: silentLog,
    timeout: 5000,
    ...changes,
  };
}

export function requestTo(upstream: Upstream, changes: Partial<TextRequest> = {}): TextRequest {
  return {
    model: upstream.model,
    system: null,
    messages: [{ role: 'user', content: 'Say hello in French.' }],
    params: {},
    ...changes,
  };
}
