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

/** A request from outside, before anything of it was looked at. */
export interface RawRestRequest {
  /** As sent; `_method` and `X-HTTP-Method-Override` are read here. */
  readonly method: string;
  /** Path below the REST root, percent-escapes as they came: `/svc/v1/generate`. */
  readonly route: string;
  /** Behind the `?`, as sent. */
  readonly query: string;
  readonly headers: Headers;
  readonly id: string;
  readonly ip: string;
  /** Who asks. Throws RestError to refuse (a wrong nonce or password). */
  currentUser(): Promise<User> | User;
  /** Who the cookie of a session names, where a page of the site itself asks (see RestRequest). Left out: nobody. */
  pageUser?(): Promise<User> | User;
  /** The whole body; null as soon as it is known to be longer than `limit` bytes. Rejects when the caller hangs up. Called at most once. */
  readBody(limit: number): Promise<Buffer | null>;
  /** Calls back when the caller hangs up; at once when that has happened. */
  onHangUp(listener: () => void): void;
}

export interface RawRestResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Empty where there is none: HEAD, 204, null. An iterable is sent piece by piece, or ended by whoever cannot send it. */
  readonly body: RestContent;
}

/** An unforeseen error of a route. By the definition the composition finds the plugin it belongs to. */
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
    }[];
    /** Ways in, each enough by itself. */
    readonly security: readonly RouteSecurity[];
    readonly hasPermission: boolean;
    readonly hasAuthentication: boolean;
  }[];
  readonly showInIndex: boolean;
  readonly allowsBatch: boolean;
}

/** The REST interface: what plugins see, and what the host needs to serve it. */
export interface Rest extends RestApi {
  /** Answers a request from outside. Rejects only as `readBody` does: then nobody is left to be answered. */
  handle(raw: RawRestRequest): Promise<RawRestResponse>;
  /** Every route in order of registration. */
  describe(): RouteSummary[];
  /** The OpenAPI document of a namespace (empty: of the root), or null when no route is registered in it. */
  openapi(namespace: string): Promise<OpenApiDocument | null>;
  /** Tells the listener of each unforeseen error in a route's own functions, after it was logged. */
  onHandlerError(listener: (failure: HandlerFailure) => void): Undo;
}
