import type { InferMembers } from './infer.ts';
import type { JsonSchema } from './schema.ts';
import type { Logger } from './log.ts';
import type { RouteResponse, RouteSecurity } from './openapi.ts';
import type { Undo } from './undo.ts';
import type { User } from './users.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Params = Record<string, unknown>;

/** Lower-case header names. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** A request to a route, from HTTP, from a batch, or from inside the process. */
export interface RestRequest<P = Params> {
  readonly method: HttpMethod | 'HEAD' | 'OPTIONS';
  /** The path below the REST root, for example `/svc/v1/generate`. */
  readonly route: string;
  /** Merged parameters after defaults, coercion and validation: JSON body before form body before query before path. */
  readonly params: P;
  /** Path parameters, as received. */
  readonly url: Params;
  readonly query: Params;
  readonly form: Params;
  /**
   * The parsed JSON body, or null when the body was not JSON. An object has at most 1,000 members, the whole body 100,000 values
   * and 512 levels; otherwise the caller gets a 400. Read larger documents from `body`, sent as another type.
   */
  readonly json: unknown;
  /** The raw body, for formats other than JSON and forms; empty for requests from inside the process. */
  readonly body: Uint8Array;
  readonly headers: Headers;
  readonly user: User;
  /** Slug of the plugin that sent it with `host.rest.dispatch`; undefined over HTTP. */
  readonly plugin?: string | undefined;
  /**
   * The session's user if a page of this site sent the request (`Origin`), without the nonce that `user` requires: for public
   * pages, which caches store. Otherwise `user`. Use it only for routes that any script on the site may call for the user.
   */
  pageUser(): Promise<User>;
  /**
   * Requires a session that signed in during the last ten minutes, or the parameter `current_password`: call it in
   * `permission` of routes that change passwords or secrets. Callers inside the process pass.
   *
   * Throws RestError 403 `application_password_not_allowed`, `fresh_sign_in_required` or `incorrect_current_password`, 429
   * after too many wrong passwords.
   */
  requireFreshSignIn(): Promise<void>;
  /**
   * Counts a wrong key by the caller's address: call it in `authenticate` before you refuse. Keys of all plugins count together,
   * on all nodes. Throws RestError 429 `too_many_login_attempts` after 100 within 15 minutes; a right key still works then.
   */
  countWrongKey(): Promise<void>;
  /** IP address of the caller (behind `TRUST_PROXY` proxies the forwarded one); empty for requests from inside the process. */
  readonly ip: string;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The value of `X-Request-Id`. */
  readonly id: string;
}

export interface RestLink {
  readonly href: string;
  readonly [attribute: string]: unknown;
}

export interface RestResponseInit {
  readonly body?: unknown;
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** `_links` of the body, by relation. */
  readonly links?: Readonly<Record<string, readonly RestLink[]>>;
  /**
   * Returns `body` as JSON bytes, for large bodies that the handler encodes faster than the host, or in pieces, between which
   * other requests go on (D46). Called at most once, and only if the body is sent unchanged: without filters, `_fields`, envelope
   * or batch.
   */
  readonly write?: () => Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Sent instead of the JSON of `body`, with the given `Content-Type`: a script, a file, or an iterable for a stream
   * (server-sent events). Each chunk is sent at once, the next is requested only as fast as the caller reads, and the
   * iterable is ended (`return`) when the caller hangs up. An error cuts the connection, so that an incomplete response never
   * looks complete. Inside the process, in batches and in envelopes, `body` is used.
   */
  readonly content?: RestContent;
}

export type RestContent = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** A response with status, headers or links. Any other value that a handler returns becomes the body of a 200. */
export class RestResponse {
  body: unknown;
  status: number;
  readonly headers: Record<string, string>;
  readonly links: Record<string, RestLink[]>;
  /** See RestResponseInit; with the body that it encodes. */
  readonly written: { readonly body: unknown; readonly write: NonNullable<RestResponseInit['write']> } | null;
  /** See RestResponseInit. */
  readonly content: RestContent | null;

  constructor(init: RestResponseInit = {}) {
    this.body = init.body ?? null;
    this.status = init.status ?? 200;
    this.headers = { ...init.headers };
    this.links = {};
    this.content = init.content ?? null;
    this.written = init.write === undefined ? null : { body: this.body, write: init.write };
    for (const [relation, links] of Object.entries(init.links ?? {})) this.links[relation] = [...links];
  }
}

/**
 * A JSON Schema for one argument, with optional functions. As in WordPress, an argument without `type` is neither validated
 * nor coerced: add `type: ['string', 'array']` to an `anyOf`, for example.
 */
export interface RouteArgument extends JsonSchema {
  /** Replaces the schema's validation. Returns true, false, an error message or a RestError. */
  readonly validate?: (value: unknown, request: RestRequest, name: string) => unknown;
  /** Null is passed on unchecked, as WordPress does for arguments that it makes of a schema. Default false. */
  readonly acceptsNull?: boolean;
  /** Replaces the schema's coercion. Returns the value to use, or a RestError. */
  readonly sanitize?: (value: unknown, request: RestRequest, name: string) => unknown;
}

export type RouteArguments = Readonly<Record<string, RouteArgument>>;

/** The parameters of a route with these arguments: after defaults, coercion and validation. */
export type ParamsOf<Arguments> = InferMembers<Arguments> & Params;

/** A route whose `request.params` has the type that `args` describes. */
export type TypedRoute<Arguments extends RouteArguments> = RouteDefinition<ParamsOf<Arguments>> & {
  readonly args: Arguments;
};

/** Returns the definition unchanged; only its types are inferred, for a route that is registered elsewhere. */
export function typedRoute<const Arguments extends RouteArguments>(definition: TypedRoute<Arguments>): RouteDefinition {
  return definition as unknown as RouteDefinition;
}

export interface RouteDefinition<P = Params> {
  /** Default `['GET']`. HEAD uses GET. */
  readonly methods?: readonly HttpMethod[];
  readonly args?: RouteArguments;
  /**
   * Runs before parameters are read (D2). Throws RestError to refuse. It sees the raw sources (`query`, `form`, `json`,
   * `headers`), and may delete a credential from them to hide it from the handler.
   */
  readonly authenticate?: (request: RestRequest) => void | Promise<void>;
  /**
   * Whether `authenticate` decides by a key of the plugin, whatever else the request carries (D49): `Authorization: Basic` is not
   * looked at where `permissionBeforeBody` finds the key, and a sign-in that fails makes the caller a visitor. Default: no.
   */
  readonly hasOwnKey?: boolean;
  /** Runs after validation. True allows; false returns 401 or 403 `rest_forbidden`; a RestError is sent as it is. */
  readonly permission?: (request: RestRequest<P>) => unknown;
  /** Validates parameters in combination, after each one is valid. Throws or returns a RestError to refuse. */
  readonly validate?: (request: RestRequest<P>) => unknown;
  readonly handler: (request: RestRequest<P>) => unknown;
  /** JSON Schema of one item of the response, shown in OPTIONS and OpenAPI. */
  readonly schema?: JsonSchema;
  readonly allowBatch?: boolean;
  /** Default true. */
  readonly showInIndex?: boolean;
  /** Replace an earlier registration of the same route instead of adding to it. */
  readonly override?: boolean;
  /**
   * Whether pages of this origin may call the route and read its responses, instead of the setting `rest_allowed_origins`.
   * Called for every request with an `Origin`, including preflights. Cookies are never allowed.
   *
   * @param origin value of the header `Origin`, as received.
   * @param url path parameters, as received.
   */
  readonly allowOrigin?: (origin: string, url: Params) => boolean | Promise<boolean>;
  /**
   * Runs before a body above 16 KB is read, so that a caller who may never use the route sends none. It sees user, headers,
   * query and path, not parameters and body. False or a RestError refuses without reading the body. True means the caller is
   * known, by a key for example: the body may be as large as `bodyLimit`. Undefined decides nothing. `permission` and
   * `authenticate` run later for every request, and must refuse whatever this refuses.
   */
  readonly permissionBeforeBody?: (request: RestRequest<P>) => unknown;
  /** Maximum body size in bytes, read for each request. Default 1,048,576; larger bodies get 413 `rest_body_too_large` (D4). */
  readonly bodyLimit?: number;
  /**
   * Maximum body size in bytes of a caller who has not signed in and whom `permissionBeforeBody` does not know. Default
   * 65,536; never more than `bodyLimit`. Raise it on routes where visitors send more.
   */
  readonly anonymousBodyLimit?: number;
  /**
   * Maximum size in bytes of a body that the host parses: JSON, or a form without files. Default and at most `bodyLimit`; a form
   * never has more than 1,048,576. Set it on routes whose `bodyLimit` is meant for files.
   */
  readonly parsedBodyLimit?: number;
  /**
   * The body of the route's errors, for clients of another service's format. Gets the usual body; the status stays. Also
   * called for errors of every method and of the request's body.
   */
  readonly errorBody?: (error: RestErrorBody, requestId: string) => unknown;
  /**
   * The name of a second header that has the request id on every response and error of the route, for clients of another service's
   * format, which do not read `X-Request-Id`.
   */
  readonly requestIdHeader?: string;
  /** JSON Schema of what `errorBody` returns, for OpenAPI. Default: the host's errors. */
  readonly errorSchema?: JsonSchema;
  /** One-line summary for OpenAPI. */
  readonly summary?: string;
  /** Details for OpenAPI, in Markdown. */
  readonly description?: string;
  /** OpenAPI tags. Default: the first part of the path below the namespace. */
  readonly tags?: readonly string[];
  /**
   * Authentication schemes for OpenAPI, one of which suffices. Documentation only: nothing is checked. Default: session or
   * application password with `permission`, else `bearer` with `authenticate`, else none. Include `none` for a route that
   * visitors may call too.
   */
  readonly security?: readonly RouteSecurity[];
  /** Content types for OpenAPI, instead of JSON, if the handler reads `request.body` itself. */
  readonly consumes?: readonly string[];
  /**
   * Responses by status for OpenAPI, besides the host's errors. Default: 200 with `schema`, or a list of it for a GET route
   * with the arguments `page` and `per_page`.
   */
  readonly responses?: Readonly<Record<number, RouteResponse>>;
}

/** The body of an error: its code, its message, and data with the status. */
export interface RestErrorBody {
  readonly code: string;
  readonly message: string;
  readonly data: unknown;
}

export interface RestDispatchInit {
  readonly method?: RestRequest['method'];
  readonly query?: Params;
  readonly json?: unknown;
  readonly headers?: Headers;
  readonly user?: User;
  readonly signal?: AbortSignal;
}

export interface RestApi {
  /**
   * Registers a route under `{root}/{namespace}{route}`. Path parameters are written `(?P<id>\d+)` or `{id}`.
   * A second registration of the same route adds its methods; the first one of a method wins, unless `override`.
   *
   * @param namespace `vendor/v1`, without leading or trailing slashes.
   */
  registerRoute<const Arguments extends RouteArguments>(
    namespace: string,
    route: string,
    definition: TypedRoute<Arguments>,
  ): Undo;
  registerRoute<P = Params>(
    namespace: string,
    route: string,
    definition: RouteDefinition<P> | readonly RouteDefinition<P>[],
  ): Undo;
  /** Runs a request inside the process, without HTTP. Errors are returned as responses, as over HTTP. */
  dispatch(route: string, init?: RestDispatchInit): Promise<RestResponse>;
  /** Absolute URL of a route: `url('/svc/v1/generate')`. */
  url(route?: string): string;
}
