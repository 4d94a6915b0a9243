import type { JsonSchema } from './schema.ts';
import type { Logger } from './log.ts';
import type { RouteResponse, RouteSecurity } from './openapi.ts';
import type { Undo } from './undo.ts';
import type { User } from './users.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Params = Record<string, unknown>;

/** Lower-case header names. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** One request to a route, from HTTP, from a batch, or from inside the process. */
export interface RestRequest<P = Params> {
  readonly method: HttpMethod | 'HEAD' | 'OPTIONS';
  /** The path below the REST root, for example `/svc/v1/generate`. */
  readonly route: string;
  /** Merged parameters after defaults, coercion and validation: JSON body before form body before query before path. */
  readonly params: P;
  /** Parameters of each source, as they came. */
  readonly url: Params;
  readonly query: Params;
  readonly form: Params;
  /** The parsed JSON body, or null when the body was not JSON. */
  readonly json: unknown;
  /** The body as it came, for formats other than JSON and forms; empty for requests from inside. */
  readonly body: Uint8Array;
  readonly headers: Headers;
  readonly user: User;
  /**
   * The user of the session's cookie where the request says that a page of the site itself made it (`Origin`), without the
   * nonce that `user` asks for: for public pages, which caches keep. Others: `user`. Only for routes that do nothing in
   * the user's name but what the user's own pages would; a script on the site may call them.
   */
  pageUser(): Promise<User>;
  /** Address of the caller (behind `TRUST_PROXY` proxies: the forwarded one); empty for requests from inside. */
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
   * The JSON of `body` in bytes, for a large body that its handler writes quicker than the host can. Called, once, only
   * where the body goes out as it came from the handler: no filter, `_fields`, envelope or batch has had a hand in it.
   */
  readonly write?: () => Uint8Array;
  /**
   * Sent as it is in place of the JSON of `body`, under the header `Content-Type` given with it: a script, a file, or an
   * iterable for an answer that is made while it is sent (server-sent events). Each piece goes out at once, the next is asked
   * for only as fast as the caller takes them, and the iterable is ended (`return`) when the caller hangs up. An error in it
   * cuts the connection: a part never passes for the whole. Inside the process, in batches and envelopes `body` stands for it.
   */
  readonly content?: RestContent;
}

export type RestContent = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** An answer with a status, headers or links of its own. A handler that answers anything else gives a 200 with that value as body. */
export class RestResponse {
  body: unknown;
  status: number;
  readonly headers: Record<string, string>;
  readonly links: Record<string, RestLink[]>;
  /** See RestResponseInit; together with the body it is the JSON of. */
  readonly written: { readonly body: unknown; readonly write: () => Uint8Array } | null;
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
 * A JSON Schema for one argument, with optional functions around it. As in WordPress, an argument without `type` is
 * neither checked nor coerced: write `type: ['string', 'array']` beside an `anyOf`, say.
 */
export interface RouteArgument extends JsonSchema {
  /** Runs in place of the schema's validation: true, false, or a sentence or RestError that refuses. */
  readonly validate?: (value: unknown, request: RestRequest, name: string) => unknown;
  /** Runs in place of the schema's coercion; answers the value to use, or a RestError that refuses. */
  readonly sanitize?: (value: unknown, request: RestRequest, name: string) => unknown;
}

export interface RouteDefinition<P = Params> {
  /** Default `['GET']`. HEAD is answered by GET. */
  readonly methods?: readonly HttpMethod[];
  readonly args?: Readonly<Record<string, RouteArgument>>;
  /**
   * Runs before parameters are looked at (D2); throws RestError to refuse. It sees the raw sources (`query`, `form`,
   * `json`, `headers`), and may delete a credential from them so that the handler never sees it.
   */
  readonly authenticate?: (request: RestRequest) => void | Promise<void>;
  /** Runs after validation: true lets in; false gives 401 or 403 `rest_forbidden`; a RestError answers itself. */
  readonly permission?: (request: RestRequest<P>) => unknown;
  /** Checks the parameters together, after each was checked alone; throws or answers a RestError to refuse. */
  readonly validate?: (request: RestRequest<P>) => unknown;
  readonly handler: (request: RestRequest<P>) => unknown;
  /** JSON Schema of one item of the answer, shown by OPTIONS and OpenAPI. */
  readonly schema?: JsonSchema;
  readonly allowBatch?: boolean;
  /** Default true. */
  readonly showInIndex?: boolean;
  /** Replace an earlier registration of the same route instead of adding to it. */
  readonly override?: boolean;
  /**
   * Whether pages of this origin may call the route and read its answers, in place of the setting `rest_allowed_origins`:
   * asked with every request that names an origin, preflights included. They are never given leave to send cookies.
   *
   * @param origin value of the header `Origin`, as it came.
   * @param url parameters of the path, as they came.
   */
  readonly allowOrigin?: (origin: string, url: Params) => boolean | Promise<boolean>;
  /** Largest body in bytes, looked up at each request. Default 1,048,576; above it 413 `rest_body_too_large` (D4). */
  readonly bodyLimit?: number;
  /** One line for OpenAPI. */
  readonly summary?: string;
  /** More than the summary for OpenAPI, in Markdown. */
  readonly description?: string;
  /** Groups of OpenAPI. Default: the first part of the path below the namespace. */
  readonly tags?: readonly string[];
  /**
   * Ways in, each enough by itself, as OpenAPI shows them; nothing is checked by them. Default: a session or an
   * application password with `permission`, else `bearer` with `authenticate`, else none. A route that also lets visitors in says `none` as well.
   */
  readonly security?: readonly RouteSecurity[];
  /** Content types of bodies that the handler reads from `request.body` itself, as OpenAPI shows them, in place of JSON. */
  readonly consumes?: readonly string[];
  /**
   * Answers by status, as OpenAPI shows them, beside the host's own errors. Default: 200 with `schema`; a GET route with the
   * arguments `page` and `per_page` answers a list of it.
   */
  readonly responses?: Readonly<Record<number, RouteResponse>>;
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
   * @param namespace `vendor/v1`, without slashes at its ends.
   */
  registerRoute<P = Params>(
    namespace: string,
    route: string,
    definition: RouteDefinition<P> | readonly RouteDefinition<P>[],
  ): Undo;
  /** Runs a request inside the process, without HTTP. Errors come back as responses, as they would over HTTP. */
  dispatch(route: string, init?: RestDispatchInit): Promise<RestResponse>;
  /** Absolute address of a route: `url('/svc/v1/generate')`. */
  url(route?: string): string;
}
