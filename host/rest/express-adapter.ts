import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Headers, Logger, User } from '#plugin-api';
import { drain, HungUpError, readBody } from './body-reader.ts';
import { endContent, isStream } from './content.ts';
import type { ContentStream } from './content.ts';
import { hostErrors } from './errors.ts';
import { errorBody } from './error-response.ts';
import { parseQuery } from './php-query.ts';
import type { RawRestRequest, RawRestResponse, Rest } from './rest-contract.ts';
import { sendStream } from './send-stream.ts';

export interface RestHandlerDependencies {
  readonly rest: Pick<Rest, 'handle'>;
  /** First part of REST paths, without slashes. */
  readonly prefix: string;
  /** Who asks, by cookie and nonce or by password. It may set headers of the answer, a fresh nonce say. Throws RestError to refuse. */
  readonly currentUser: (request: IncomingMessage, response: Pick<ServerResponse, 'setHeader'>) => Promise<User> | User;
  /** See RestRequest. Default: nobody. */
  readonly pageUser?: (request: IncomingMessage) => Promise<User> | User;
  readonly log: Logger;
}

/** A request that may have passed a proxy: whoever set `ip` knows the caller's address. */
type Incoming = IncomingMessage & { ip?: string | undefined; originalUrl?: string };

export type RestHandler = (request: Incoming, response: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * Hands requests below `/{prefix}` and `/?rest_route=` to the REST interface, and all others to `next`. Works before
 * express as well as inside. It reads the body itself, within each route's limit.
 */
export function createRestHandler({ rest, prefix, currentUser, pageUser, log }: RestHandlerDependencies): RestHandler {
  const locate = createLocator(prefix);
  return (request, response, next) => {
    const place = locate(request.originalUrl ?? request.url ?? '/');
    if (place === null) return next();
    const id = requestId(request, response);
    const raw: RawRestRequest = {
      method: request.method ?? 'GET',
      route: place.route,
      query: place.query,
      headers: request.headers as Headers,
      id,
      ip: request.ip ?? request.socket.remoteAddress ?? '',
      currentUser: () => currentUser(request, response),
      ...(pageUser && { pageUser: () => pageUser(request) }),
      readBody: (limit) => readBody(request, limit),
      onHangUp: (listener) => watchHangUp(response, listener),
    };
    const send = (answer: RawRestResponse): void => {
      try {
        if (isWhole(answer)) sendAnswer(request, response, answer);
        else sendOpen({ request, response, log: log.child({ route: place.route, request_id: id }) }, answer);
      } catch (error) {
        endContent(answer.body);
        // A header that HTTP cannot carry: the answer goes out without the route's own ones.
        log.error('REST answer could not be sent', { request_id: id, error });
        sendAnswer(request, response, bareFailure(id));
      }
    };
    rest.handle(raw).then(send, (error: unknown) => {
      if (error instanceof HungUpError) return;
      // The REST interface answers its errors itself; what comes here is a fault of the host.
      log.error('REST request failed', { request_id: id, error });
      send(bareFailure(id));
    });
  };
}

interface Place {
  readonly route: string;
  readonly query: string;
}

/** Finds the route that an address names, or null for addresses that are none of REST's business. */
function createLocator(prefix: string): (address: string) => Place | null {
  const base = `/${prefix}`;
  return (address) => {
    const url = address.startsWith('/') ? address : withoutOrigin(address);
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? '' : utf8(url.slice(mark + 1));
    if (path.startsWith(base) && (path.length === base.length || path.charCodeAt(base.length) === slash)) {
      return { route: trimRoute(utf8(path.slice(base.length))), query };
    }
    if ((path !== '/' && path !== '/index.php') || !query.includes('rest_route')) return null;
    const route = parseQuery(query).params['rest_route'];
    return typeof route === 'string' && route !== ''
      ? { route: trimRoute(route.startsWith('/') ? route : `/${route}`), query }
      : null;
  };
}

const slash = '/'.charCodeAt(0);

function trimRoute(route: string): string {
  if (route.charCodeAt(route.length - 1) !== slash) return route === '' ? '/' : route;
  return route.replace(/\/+$/, '') || '/';
}

function withoutOrigin(address: string): string {
  return /^https?:\/\/[^/?]*(\/.*)?$/is.exec(address)?.[1] ?? '/';
}

/** Node hands bytes that were not escaped on as Latin-1. */
function utf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text;
}

/** The id that the server gave the request already, else the caller's when it is a plain token, else a new one. */
function requestId(request: IncomingMessage, response: ServerResponse): string {
  const assigned = response.getHeader('x-request-id');
  if (typeof assigned === 'string') return assigned;
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

function watchHangUp(response: ServerResponse, listener: () => void): void {
  const check = (): void => {
    if (!response.writableFinished) listener();
  };
  if (response.destroyed || response.closed) return check();
  response.once('close', check);
}

interface OpenAnswer {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly log: Logger;
}

type WholeAnswer = RawRestResponse & { readonly body: string | Uint8Array };

function isWhole(answer: RawRestResponse): answer is WholeAnswer {
  return !isStream(answer.body);
}

/**
 * Sends an answer while it is made. Its headers go out at once; an error in it cuts the connection, as there is no other
 * way left to say that what was sent is not the whole.
 *
 * @throws TypeError when a header cannot be sent; nothing has gone out then.
 */
function sendOpen({ request, response, log }: OpenAnswer, { status, headers, body }: RawRestResponse): void {
  if (response.destroyed || response.headersSent) return endContent(body);
  response.writeHead(status, headers);
  response.flushHeaders();
  void sendStream(response, body as ContentStream).then((end) => {
    if (end.kind === 'complete') return endAnswer(request, response);
    if (end.kind === 'hung_up') return void log.debug('REST stream ended: the caller hung up');
    log.error('REST stream failed, and its connection is cut', { error: end.error });
    response.destroy();
  });
}

/** @throws TypeError when a header cannot be sent; nothing has gone out then. */
function sendAnswer(request: IncomingMessage, response: ServerResponse, { status, headers, body }: WholeAnswer): void {
  if (response.destroyed || response.headersSent) return;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (request.method !== 'HEAD' && status !== 204 && status !== 304)
    headers['Content-Length'] = String(bytes.byteLength);
  response.writeHead(status, headers);
  if (request.complete || !hasBody(request)) return void response.end(bytes);
  response.write(bytes);
  endAnswer(request, response);
}

/** Ends an answer, once the caller has sent all it wanted to: it would not see the answer before. */
function endAnswer(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || !hasBody(request)) return void response.end();
  drain(request, (isComplete) => {
    response.end();
    if (!isComplete) request.destroy();
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function bareFailure(id: string): WholeAnswer {
  return {
    status: 500,
    headers: {
      'Content-Type': 'application/json; charset=UTF-8',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': id,
    },
    body: JSON.stringify(errorBody(hostErrors.internal(id))),
  };
}
