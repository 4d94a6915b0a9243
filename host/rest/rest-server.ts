import { RestError, RestResponse, type Logger, type RestContent, type User } from '#plugin-api';
import { envelope } from './batch.ts';
import { addContentHeaders, endContent, endReplaced, withoutContent } from './response-content.ts';
import type { Dispatcher, Step } from './dispatcher.ts';
import { parseEmbedParam, type Embedder } from './embed.ts';
import { errorResponse } from './error-response.ts';
import type { ErrorReader } from './error-response.ts';
import type { Finish } from './finish.ts';
import { parseQuery, type ParsedQuery } from './php-query.ts';
import type { Match, RouteRegistry } from './registry.ts';
import { HostRequest } from './host-request.ts';
import type { HeaderRequest } from './response-headers.ts';
import type { RawRestRequest, RawRestResponse, Rest } from './rest-contract.ts';
import type { RestFilters } from './rest-filters.ts';
import { hostErrors } from './host-errors.ts';
import { createBodyReceiver } from './receive-body.ts';

/** The anonymous user: callers inside the process, and callers over HTTP before authentication. */
export const visitor: User = { id: 0, login: '', email: '', displayName: '', roles: [], can: () => false };

export interface ServerDependencies {
  readonly dispatcher: Dispatcher;
  readonly embedder: Embedder;
  readonly finish: Finish;
  readonly filters: RestFilters;
  readonly registry: RouteRegistry;
  readonly errors: ErrorReader;
  readonly headers: (request: HeaderRequest, response: RestResponse) => Record<string, string>;
  readonly rest: () => Rest;
  readonly log: Logger;
  /** See DispatcherDependencies. */
  readonly step: Step;
}

/** Serves requests over HTTP: authentication, dispatch, and everything from the response to the bytes sent. */
export function createRestServer(dependencies: ServerDependencies): Rest['handle'] {
  const { dispatcher, finish, errors, headers, step } = dependencies;
  const receive = createReceiver(dependencies);
  const write = createWriter(dependencies);

  const respond = async ({ request, refusal }: Received): Promise<RestResponse> => {
    const response = refusal === null ? await dispatcher.dispatch(request) : errorResponse(refusal);
    const finished = await step('Filters of the response', () => finish(response, request)).catch((error: unknown) =>
      errorResponse(errors.fromElsewhere(error, request)),
    );
    endReplaced(response, finished);
    return finished;
  };

  /** The route's own CORS decision. A preflight names no method, so it applies to the whole route. */
  const allowsOrigin = async (request: HostRequest, origin: string): Promise<boolean | undefined> => {
    const found = dependencies.registry.matchPath(request.route);
    const allow = found?.route.endpoints.find(({ definition }) => definition.allowOrigin !== undefined)?.definition
      .allowOrigin;
    if (found === null || allow === undefined) return undefined;
    try {
      return await allow(origin, found.url);
    } catch (error) {
      dependencies.log.error('Failed to evaluate allowOrigin; the origin was denied', {
        event: 'rest_allow_origin_failed',
        route: request.route,
        request_id: request.id,
        error,
      });
      return false;
    }
  };

  const compose = async (raw: RawRestRequest, received: Received, finished: RestResponse): Promise<RawRestResponse> => {
    const { request } = received;
    const written = await write(finished, request);
    const { response } = written;
    const isOverridden = request.method !== raw.method.toUpperCase();
    const sent = headers(
      {
        method: raw.method,
        origin: raw.headers['origin'],
        isSignedIn: request.user.id > 0,
        allowsOrigin:
          raw.headers['origin'] === undefined ? undefined : await allowsOrigin(request, raw.headers['origin']),
        isPrivate: isPersonal(received) || (isOverridden && response.status >= 400 && response.status < 500),
        id: raw.id,
      },
      response,
    );
    if (written.isContent) addContentHeaders(response, sent);
    const isBare = raw.method === 'HEAD' || response.status === 204 || response.status === 304;
    if (isBare) endContent(written.body);
    return { status: response.status, headers: sent, body: isBare ? '' : written.body };
  };

  return async (raw) => {
    const received = await receive(raw, parseQuery(raw.query));
    const finished = await respond(received);
    return step('Response', () => compose(raw, received, finished));
  };
}

interface Received {
  readonly request: HostRequest;
  /** Why the caller is refused before routing. */
  readonly refusal: RestError | null;
}

/** Authenticates and routes the request, and reads the body within the route's limit. A refused caller's body is not read. */
function createReceiver({
  filters,
  registry,
  errors,
  log,
  step,
}: ServerDependencies): (raw: RawRestRequest, query: ParsedQuery) => Promise<Received> {
  const receiveBody = createBodyReceiver(errors);
  return async (raw, query) => {
    const method = readMethod(raw, query);
    const { route, headers, id, ip } = raw;
    const common = {
      method,
      route,
      query,
      headers,
      id,
      ip,
      log,
      onHangUp: (listener: () => void) => raw.onHangUp(listener),
      pageUser: () => raw.pageUser?.() ?? visitor,
      ...(raw.countWrongKey && { countWrongKey: raw.countWrongKey }),
      ...(raw.requireFreshSignIn && { requireFreshSignIn: raw.requireFreshSignIn }),
    };
    const match = step('Route', () => registry.match(method, route));
    let user = visitor;
    try {
      user = await signedIn(raw, match, () => new HostRequest({ user, ...common }));
      const result = await filters.run('rest_authentication_errors', null, user);
      if (result instanceof RestError) return { request: new HostRequest({ user, ...common }), refusal: result };
    } catch (error) {
      const request = new HostRequest({ user, ...common });
      return { request, refusal: errors.fromElsewhere(error, request) };
    }
    const request = new HostRequest({ user, ...common });
    const refusal = match === null ? null : await step('Request body', () => receiveBody(raw, request, match));
    // A request that is refused here has no match, so that no permission is asked for its header Allow.
    if (refusal === null) request.match = match;
    return { request, refusal };
  };
}

/** The caller, by cookie and nonce or by password. Where a route has its own key, the key alone decides (D49). */
async function signedIn(raw: RawRestRequest, match: Match | null, visit: () => HostRequest): Promise<User> {
  const definition = match?.endpoint.definition;
  if (definition?.hasOwnKey !== true) return raw.currentUser();
  const hasBasic = /^\s*basic\b/i.test(raw.headers['authorization'] ?? '');
  if (hasBasic && (await definition.permissionBeforeBody?.(visit())) === true) return visitor;
  try {
    return await raw.currentUser();
  } catch {
    return visitor;
  }
}

/** Filters that receive the response and may change its body in place. */
const responseFilters = ['rest_request_after_callbacks', 'rest_post_dispatch', 'rest_pre_serve_request'];

interface Written {
  readonly response: RestResponse;
  readonly body: RestContent;
  /** Whether the body is the response's content. */
  readonly isContent?: boolean;
}

type Write = (response: RestResponse, request: HostRequest) => Promise<Written>;

/** Converts a response to bytes: its content, its JSON, or what a filter sends instead. */
function createWriter(dependencies: ServerDependencies): Write {
  const { filters, errors, rest } = dependencies;
  const writeJson = createJsonWriter(dependencies);

  const write: Write = async (response, request) => {
    if (!sendsContent(response, request)) return writeJson(withoutContent(response), request);
    const served = await filters.run('rest_pre_serve_request', false, response, request, rest());
    if (served === true) return { response, body: '' };
    if (typeof served === 'string' || served instanceof Uint8Array) return { response, body: served };
    return { response, body: response.content ?? '', isContent: true };
  };

  return async (response, request) => {
    try {
      const written = await write(response, request);
      if (written.isContent !== true) endContent(response.content);
      return written;
    } catch (error) {
      endContent(response.content);
      return failed(errors.fromElsewhere(error, request), response);
    }
  };
}

/** With `_fields` or `_envelope` the caller wants JSON: the body is sent instead of the content. */
function sendsContent({ content }: RestResponse, { query, params }: HostRequest): boolean {
  return content !== null && query['_envelope'] === undefined && (params['_fields'] ?? query['_fields']) === undefined;
}

/** Adds links, embedded responses and envelope, and encodes JSON. */
function createJsonWriter({ embedder, filters, rest, log }: ServerDependencies): Write {
  return async (response, request) => {
    const body = await embedder.buildBody(response, request, parseEmbedParam(request.query['_embed']));
    const isEnveloped = request.query['_envelope'] !== undefined;
    const { written } = response;
    const isUntouched =
      written !== null && written.body === body && !isEnveloped && !responseFilters.some((name) => filters.has(name));
    const encoded = isUntouched
      ? { bytes: written.write() }
      : encodeBody(isEnveloped ? envelope(response, body) : body);
    const sent = isEnveloped ? new RestResponse() : response;
    const served = await filters.run('rest_pre_serve_request', false, sent, request, rest());
    if (served === true) return { response: sent, body: '' };
    if (typeof served === 'string' || served instanceof Uint8Array) return { response: sent, body: served };
    if ('bytes' in encoded) return { response: sent, body: encoded.bytes };
    if ('text' in encoded) return { response: sent, body: encoded.text };
    log.error('Failed to encode REST response', {
      event: 'rest_response_unencodable',
      route: request.route,
      request_id: request.id,
      error: encoded.cause ?? encoded.error,
    });
    return failed(encoded.error, response);
  };
}

function failed(error: RestError, { headers }: RestResponse): Written {
  const response = errorResponse(error);
  if (headers['Allow'] !== undefined) response.headers['Allow'] = headers['Allow'];
  return { response, body: JSON.stringify(response.body) };
}

/** Caches must not store responses for one caller. */
function isPersonal({ request, refusal }: Received): boolean {
  return refusal !== null || request.user.id > 0 || request.match?.endpoint.definition.authenticate !== undefined;
}

function readMethod({ method, headers }: RawRestRequest, { params }: ParsedQuery): string {
  const wanted = params['_method'] ?? headers['x-http-method-override'];
  return (typeof wanted === 'string' && wanted !== '' ? wanted : method).toUpperCase();
}

/** JSON of a response body; empty for null, which is sent without a body as in WordPress. */
function encodeBody(body: unknown): { readonly text: string } | { readonly error: RestError; readonly cause: unknown } {
  if (body === null || body === undefined) return { text: '' };
  try {
    const text = JSON.stringify(body) ?? '';
    // JSON encodes NaN and Infinity as null, so only a text with null needs the check.
    if (text.includes('null') && holdsNonFinite(body)) return failure('Inf and NaN cannot be JSON encoded', undefined);
    return { text };
  } catch (cause) {
    return failure('The response cannot be JSON encoded', cause);
  }
}

function failure(message: string, cause: unknown): { error: RestError; cause: unknown } {
  return { error: hostErrors.encoding(message), cause };
}

/** Values with `toJSON`, such as a Date, encode themselves. */
function holdsNonFinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  return Object.values(value).some(holdsNonFinite);
}
