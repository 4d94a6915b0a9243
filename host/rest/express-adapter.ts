import { trimTrailingSlashes } from '#plugin-api';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Headers, Logger, User } from '#plugin-api';
import { HungUpError, type BodyReader } from './body-reader.ts';
import { endContent, isStream } from './response-content.ts';
import type { ContentStream } from './response-content.ts';
import { hostErrors } from './host-errors.ts';
import { errorBody } from './error-response.ts';
import { parseQuery } from './php-query.ts';
import type { RawRestRequest, RawRestResponse, Rest } from './rest-contract.ts';
import { sendStream } from './send-stream.ts';

export interface RestHandlerDependencies {
  readonly rest: Pick<Rest, 'handle'>;
  /** First part of REST paths, without slashes. */
  readonly prefix: string;
  /** The caller, by cookie and nonce or by password. May set response headers, such as a new nonce. Throws RestError to refuse. */
  readonly currentUser: (request: IncomingMessage, response: Pick<ServerResponse, 'setHeader'>) => Promise<User> | User;
  /** See RestRequest. Default: the anonymous visitor. */
  readonly pageUser?: (request: IncomingMessage) => Promise<User> | User;
  /** See RestRequest. Default: nothing is counted. */
  readonly countWrongKey?: (ip: string) => Promise<void>;
  /** See RestRequest. Default: nothing is required. */
  readonly requireFreshSignIn?: (
    request: IncomingMessage,
    given: { readonly user: User; readonly password: string | undefined },
  ) => Promise<void>;
  readonly bodies: BodyReader;
  /** Called when a response begins to be sent. Default: nothing is called. */
  readonly onSend?: () => void;
  readonly log: Logger;
}

/**
 * Passes requests below `/{prefix}` and `/?rest_route=` to the REST interface and all others to `next`. Each route has its own
 * limit of the body, which it reads once the caller may send one.
 */
export function createRestHandler(dependencies: RestHandlerDependencies): RequestHandler {
  const { rest, prefix, currentUser, pageUser, countWrongKey, requireFreshSignIn, bodies, onSend, log } = dependencies;
  const locate = createLocator(prefix);
  return (request, response, next) => {
    const location = locate(request.originalUrl);
    if (location === null) return next();
    const id = requestId(request, response);
    const ip = request.ip ?? '';
    const rawRequest: RawRestRequest = {
      method: request.method,
      route: location.route,
      query: location.query,
      headers: request.headers as Headers,
      id,
      ip,
      currentUser: () => currentUser(request, response),
      ...(pageUser && { pageUser: () => pageUser(request) }),
      ...(countWrongKey && { countWrongKey: () => countWrongKey(ip) }),
      ...(requireFreshSignIn && { requireFreshSignIn: (given) => requireFreshSignIn(request, given) }),
      readBody: (limits) => bodies.read(request, response, limits),
      onHangUp: (listener) => watchHangUp(response, listener),
    };
    const send = (raw: RawRestResponse): void => {
      onSend?.();
      try {
        const target = { request, response, bodies, log };
        if (isBuffered(raw)) sendBuffered(target, raw);
        else sendStreamed({ ...target, log: log.child({ route: location.route, request_id: id }) }, raw);
      } catch (error) {
        endContent(raw.body);
        // A header value that HTTP forbids: send an error without the route's headers.
        log.error('Failed to send REST response', { event: 'rest_response_unsendable', request_id: id, error });
        sendBuffered({ request, response, bodies }, internalErrorResponse(id));
      }
    };
    rest.handle(rawRequest).then(send, (error: unknown) => {
      if (error instanceof HungUpError) return;
      // The REST interface handles route errors; only bugs of the host arrive here.
      log.error('REST request failed', { event: 'rest_request_failed', request_id: id, error });
      send(internalErrorResponse(id));
    });
  };
}

interface RouteLocation {
  readonly route: string;
  readonly query: string;
}

/** Finds the route in a URL; null for URLs outside REST. */
function createLocator(prefix: string): (url: string) => RouteLocation | null {
  const base = `/${prefix}`;
  return (url) => {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? '' : url.slice(mark + 1);
    if (path.startsWith(base) && (path.length === base.length || path.charCodeAt(base.length) === slash)) {
      return { route: trimRoute(path.slice(base.length)), query };
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
  return trimTrailingSlashes(route) || '/';
}

/** The id the server has assigned, else the caller's if it is a plain token, else a new one. */
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

interface Target {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bodies: Pick<BodyReader, 'drain'>;
}

interface StreamTarget extends Target {
  readonly log: Logger;
}

type BufferedResponse = RawRestResponse & { readonly body: string | Uint8Array };

function isBuffered(raw: RawRestResponse): raw is BufferedResponse {
  return !isStream(raw.body);
}

/**
 * Streams a response. Headers are sent at once, with the pieces that are ready; an error cuts the connection, which is the only
 * sign for the caller that the body is incomplete.
 *
 * @throws TypeError when a header cannot be sent. Nothing has been sent then.
 */
function sendStreamed(target: StreamTarget, { status, headers, body }: RawRestResponse): void {
  const { response, log } = target;
  if (response.destroyed || response.headersSent) return endContent(body);
  response.writeHead(status, headers);
  // With what the stream has already, in one packet: a caller that wakes up for headers alone delays the first piece.
  process.nextTick(() => {
    if (!response.writableEnded) response.flushHeaders();
  });
  void sendStream(response, body as ContentStream).then((end) => {
    if (end.kind === 'complete') return endResponse(target);
    if (end.kind === 'hung_up')
      return void log.debug('REST stream ended: the caller hung up', { event: 'rest_stream_hung_up' });
    log.error('REST stream failed; connection cut', { event: 'rest_stream_failed', error: end.error });
    // After what is ready has been sent.
    process.nextTick(() => response.destroy());
  });
}

/** @throws TypeError when a header cannot be sent. Nothing has been sent then. */
function sendBuffered(target: Target, { status, headers, body }: BufferedResponse): void {
  const { request, response } = target;
  if (response.destroyed || response.headersSent) return;
  if (request.method !== 'HEAD' && status !== 204 && status !== 304)
    headers['Content-Length'] = String(Buffer.byteLength(body));
  response.writeHead(status, headers);
  if (request.complete || !hasBody(request) || headers['Connection'] === 'close') return void response.end(body);
  response.write(body);
  endResponse(target);
}

/** Ends a response after the caller has sent its body: most callers read no response before. */
function endResponse({ request, response, bodies }: Target): void {
  if (request.complete || !hasBody(request)) return void response.end();
  bodies.drain(request, (isComplete) => {
    response.end();
    if (!isComplete) request.destroy();
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function internalErrorResponse(id: string): BufferedResponse {
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
