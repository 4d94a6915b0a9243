import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request as the first handlers see it, before express has touched it. */
export type RawRequest = IncomingMessage & {
  /** Address of the caller; behind trusted proxies the forwarded one. Empty when the connection is gone already. */
  ip?: string;
};

/** A handler in the habit of connect and express. */
export type RawHandler = (request: RawRequest, response: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * Gives the request its id: the caller's `X-Request-Id` when it is a plain token of up to 128 characters, else a UUID.
 * From then on it is found in `request.headers['x-request-id']`, and it goes out with the answer.
 */
export function assignRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
  request.headers['x-request-id'] = id;
  response.setHeader('X-Request-Id', id);
  return id;
}

/**
 * The caller's address: the nearest hop that is not a trusted proxy.
 *
 * @param trusts express's compiled `trust proxy` setting.
 */
export function clientAddress(request: IncomingMessage, trusts: (address: string, hop: number) => boolean): string {
  const forwarded = request.headers['x-forwarded-for'];
  const peer = request.socket.remoteAddress ?? '';
  if (forwarded === undefined) return peer;
  const hops = [
    peer,
    ...String(forwarded)
      .split(',')
      .map((hop) => hop.trim())
      .reverse(),
  ];
  return hops.find((address, hop) => !trusts(address, hop)) ?? hops.at(-1) ?? '';
}
