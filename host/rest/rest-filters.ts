import type { HooksApi, RestError, RestRequest, RestResponse, RouteDefinition, User } from '#plugin-api';
import type { Rest } from './rest-contract.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** null: undecided; true: fine; a RestError refuses the request before a route is looked for. */
    rest_authentication_errors: (result: RestError | true | null, user: User) => RestError | true | null;
    /** Anything but null answers in place of the route. */
    rest_pre_dispatch: (result: unknown, rest: Rest, request: RestRequest) => unknown;
    /** null, or the error of authentication or parameters. A RestError keeps permission and handler from running. */
    rest_request_before_callbacks: (
      error: RestError | null,
      definition: RouteDefinition,
      request: RestRequest,
    ) => unknown;
    /** Anything but null answers in place of the handler. */
    rest_dispatch_request: (
      ...args: [result: unknown, request: RestRequest, route: string, definition: RouteDefinition]
    ) => unknown;
    /** What the handler answered, or a RestError. */
    rest_request_after_callbacks: (result: unknown, definition: RouteDefinition, request: RestRequest) => unknown;
    rest_post_dispatch: (response: RestResponse, rest: Rest, request: RestRequest) => RestResponse;
    /** false: send as JSON; a text or bytes are sent in its place; true: nothing is sent. */
    rest_pre_serve_request: (
      ...args: [served: boolean | string | Uint8Array, response: RestResponse, request: RestRequest, rest: Rest]
    ) => boolean | string | Uint8Array;
    /** Further compact names of link relations. */
    rest_response_link_curies: (curies: readonly LinkCurie[], response: RestResponse) => readonly LinkCurie[];
    /** Headers that scripts of other sites may read. */
    rest_exposed_cors_headers: (names: readonly string[]) => readonly string[];
    /** Headers that scripts of other sites may send. */
    rest_allowed_cors_headers: (names: readonly string[]) => readonly string[];
    rest_index: (response: RestResponse, request: RestRequest) => RestResponse;
    rest_namespace_index: (response: RestResponse, request: RestRequest) => RestResponse;
    /** Most requests of one batch. Default 25. */
    rest_get_max_batch_size: (size: number) => number;
  }
}

export interface LinkCurie {
  readonly name: string;
  /** Address with `{rel}` where the short name goes. */
  readonly href: string;
  readonly templated: boolean;
}

/** Runs the REST filters of one site. */
export interface RestFilters {
  /** Waits for callbacks only when there are any: with none it costs a few nanoseconds, and `all` still sees it. */
  run(name: string, value: unknown, ...args: readonly unknown[]): unknown;
  /** For values that are needed at once. */
  runNow(name: string, value: unknown, ...args: readonly unknown[]): unknown;
  /** Whether anything listens, besides `all`. */
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
