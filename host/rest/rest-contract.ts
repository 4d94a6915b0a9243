import type {
  Headers,
  HttpMethod,
  OpenApiDocument,
  RestApi,
  RestContent,
  RouteDefinition,
  RouteSecurity,
  Undo,
  User,
} from '#plugin-api';
import type { BodyLimits } from './body-reader.ts';

/** A request over HTTP, not parsed yet. */
export interface RawRestRequest {
  /** As sent; `_method` and `X-HTTP-Method-Override` are read here. */
  readonly method: string;
  /** Path below the REST root, with percent-escapes: `/svc/v1/generate`. */
  readonly route: string;
  /** The text after `?`, as sent. */
  readonly query: string;
  readonly headers: Headers;
  readonly id: string;
  readonly ip: string;
  /** The caller. Throws RestError to refuse (a wrong nonce or password). */
  currentUser(): Promise<User> | User;
  /** The session's user for a request from one of the site's pages (see RestRequest). Default: the anonymous visitor. */
  pageUser?(): Promise<User> | User;
  /** Requires a fresh sign-in of the caller (see RestRequest). Default: nothing is required. */
  readonly requireFreshSignIn?: (given: {
    readonly user: User;
    readonly password: string | undefined;
  }) => Promise<void>;
  /** Counts a wrong key by the caller's address (see RestRequest). Default: nothing is counted. */
  readonly countWrongKey?: () => Promise<void>;
  /** The whole body, read once, as BodyReader does: null once it is known to exceed the limit. */
  readBody(limits: BodyLimits): Promise<Buffer | null>;
  /** Calls back when the caller hangs up, or at once if it already has. */
  onHangUp(listener: () => void): void;
}

export interface RawRestResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Empty for HEAD, 204 and null. An iterable is streamed, or ended if it cannot be sent. */
  readonly body: RestContent;
}

/** An unexpected error of a route. The definition identifies the plugin that owns it. */
export interface HandlerFailure {
  /** The route's path with its parameters, for example `/hello/v1/greet/(?P<name>[^/]+)`. */
  readonly route: string;
  readonly namespace: string;
  readonly definition: RouteDefinition;
  readonly error: unknown;
  readonly requestId: string;
}

/** A registered route, for pages. */
export interface RouteSummary {
  readonly namespace: string;
  readonly route: string;
  readonly methods: readonly HttpMethod[];
  readonly endpoints: readonly {
    readonly methods: readonly HttpMethod[];
    readonly summary: string | null;
    readonly args: readonly {
      readonly name: string;
      readonly type: string;
      readonly required: boolean;
      readonly description: string;
      /** As the index shows it. */
      readonly schema: Readonly<Record<string, unknown>>;
    }[];
    /** Authentication schemes; one of them suffices. */
    readonly security: readonly RouteSecurity[];
    readonly hasPermission: boolean;
    readonly hasAuthentication: boolean;
  }[];
  readonly showInIndex: boolean;
  readonly allowsBatch: boolean;
}

/** The REST interface: what plugins see, and what the host needs to serve it. */
export interface Rest extends RestApi {
  /** Runs the work once, before the routes are next read. */
  beforeRead(work: () => void): void;
  /** The same interface; routes registered through it belong to the plugin. */
  forOwner(owner: string): RestApi;
  /** Handles a request over HTTP. Rejects only if the caller has hung up. */
  handle(raw: RawRestRequest): Promise<RawRestResponse>;
  /** Every route in order of registration. */
  describe(): RouteSummary[];
  /** The OpenAPI document of a namespace (empty: of the root), or null when no route is registered in it. */
  openapi(namespace: string): Promise<OpenApiDocument | null>;
  /** Calls the listener for each unexpected error of a route's own functions, after it is logged. */
  onHandlerError(listener: (failure: HandlerFailure) => void): Undo;
}
