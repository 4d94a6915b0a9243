import type { HooksApi, RestError, RestRequest, RestResponse, RouteDefinition, User } from '#plugin-api';
import type { Rest } from './rest-contract.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** null: undecided; true: authenticated; a RestError refuses the request before routing. */
    rest_authentication_errors: (result: RestError | true | null, user: User) => RestError | true | null;
    /** Anything but null becomes the response instead of the route's. */
    rest_pre_dispatch: (result: unknown, rest: Rest, request: RestRequest) => unknown;
    /** null, or the error of authentication or parameters. A RestError skips permission and handler. */
    rest_request_before_callbacks: (
      error: RestError | null,
      definition: RouteDefinition,
      request: RestRequest,
    ) => unknown;
    /** Anything but null replaces the handler's result. */
    rest_dispatch_request: (
      ...args: [result: unknown, request: RestRequest, route: string, definition: RouteDefinition]
    ) => unknown;
    /** The handler's result, or a RestError. */
    rest_request_after_callbacks: (result: unknown, definition: RouteDefinition, request: RestRequest) => unknown;
    /** Every response, errors included, after the route and before it is sent. */
    rest_post_dispatch: (response: RestResponse, rest: Rest, request: RestRequest) => RestResponse;
    /** false: send JSON; a string or bytes: send that instead; true: send nothing. */
    rest_pre_serve_request: (
      ...args: [served: boolean | string | Uint8Array, response: RestResponse, request: RestRequest, rest: Rest]
    ) => boolean | string | Uint8Array;
    /** More CURIEs for link relations. */
    rest_response_link_curies: (curies: readonly LinkCurie[], response: RestResponse) => readonly LinkCurie[];
    /** The response of the index of all namespaces. */
    rest_index: (response: RestResponse, request: RestRequest) => RestResponse;
    /** The response of the index of one namespace. */
    rest_namespace_index: (response: RestResponse, request: RestRequest) => RestResponse;
  }
  interface SyncFilterMap {
    /** Response headers that scripts of other sites may read. */
    rest_exposed_cors_headers: (names: readonly string[]) => readonly string[];
    /** Request headers that scripts of other sites may send. */
    rest_allowed_cors_headers: (names: readonly string[]) => readonly string[];
    /** Maximum number of requests in a batch. Default 25. */
    rest_get_max_batch_size: (size: number) => number;
  }
}

export interface LinkCurie {
  readonly name: string;
  /** URL template with `{rel}` for the short name. */
  readonly href: string;
  readonly templated: boolean;
}

/** Runs the REST filters of one site. */
export interface RestFilters {
  /** Asynchronous only if the filter has callbacks; without any it costs a few nanoseconds, and `all` still runs. */
  run(name: string, value: unknown, ...args: readonly unknown[]): unknown;
  /** Runs synchronously. */
  runNow(name: string, value: unknown, ...args: readonly unknown[]): unknown;
  /** Whether the filter has callbacks, not counting `all`. */
  has(name: string): boolean;
}

type Apply = (name: string, value: unknown, ...args: readonly unknown[]) => unknown;

export function createRestFilters(
  hooks: Pick<HooksApi, 'hasFilter' | 'applyFilters' | 'applyFiltersAsync'>,
): RestFilters {
  const now = hooks.applyFilters.bind(hooks) as Apply;
  const later = hooks.applyFiltersAsync.bind(hooks) as Apply;
  return {
    run: (name, value, ...args) => (hooks.hasFilter(name) ? later(name, value, ...args) : now(name, value, ...args)),
    runNow: now,
    has: (name) => hooks.hasFilter(name) !== false,
  };
}
