import nock from 'nock';
import { createSystemClock } from '../../host/clock.ts';
import type { ProviderConnection, TextRequest } from '../../plugins/svc/providers/provider.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { currentFetch } from '../helpers/recorded-responses.ts';
import type { FarEnd, JsonBody } from './far-end.ts';

/** What reached the far end. */
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

/** Lets the far end give a recorded answer to a generation. */
export function answering(farEnd: FarEnd, { status = 200, body, headers = {}, times = 1 }: Recorded): Sent {
  const sent: Sent = { body: {}, headers: {}, count: 0 };
  nock(farEnd.origin)
    .post(farEnd.generatePath)
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

export function connectionTo(farEnd: FarEnd, changes: Partial<ProviderConnection> = {}): ProviderConnection {
  return {
    settings: farEnd.settings,
    fetch: currentFetch,
    clock: createSystemClock(),
    log: silentLog,
    timeout: 5000,
    ...changes,
  };
}

export function requestTo(farEnd: FarEnd, changes: Partial<TextRequest> = {}): TextRequest {
  return {
    model: farEnd.model,
    system: null,
    messages: [{ role: 'user', content: 'Say hello in French.' }],
    params: {},
    ...changes,
  };
}
