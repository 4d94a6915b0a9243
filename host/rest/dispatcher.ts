import { RestError, RestResponse, restError } from '#plugin-api';
import { endReplaced } from './response-content.ts';
import { errorResponse } from './error-response.ts';
import { hostErrors } from './host-errors.ts';
import type { ErrorReader } from './error-response.ts';
import { readParameters } from './parameters.ts';
import type { Match, RouteRegistry } from './registry.ts';
import type { HostRequest } from './host-request.ts';
import type { Rest } from './rest-contract.ts';
import type { RestFilters } from './rest-filters.ts';
import { describeRoute } from './route-description.ts';

export interface DispatcherDependencies {
  readonly registry: RouteRegistry;
  readonly filters: RestFilters;
  readonly rest: () => Rest;
  readonly errors: ErrorReader;
  readonly url: (route: string) => string;
  /** Runs a handler under the name of its route. */
  readonly track: (name: string, work: () => unknown) => unknown;
  /** Runs a step before the handler under its name. */
  readonly step: Step;
}

export type Step = <Result>(name: string, work: () => Result) => Result;

export interface Dispatcher {
  /** Runs the request's route. Every error becomes a response. */
  dispatch(request: HostRequest): Promise<RestResponse>;
  /** The response of `rest_pre_dispatch` instead of the route's, a refusal included; null when the route may run. */
  preDispatch(request: HostRequest): Promise<RestResponse | null>;
  /** Authenticates a matched request and reads its parameters. Returns the error, or null. */
  prepare(request: HostRequest, match: Match): Promise<RestError | null>;
  /** Checks permission and runs the handler of a prepared request. */
  conclude(request: HostRequest, match: Match, error: RestError | null): Promise<RestResponse>;
}

/** Match, authenticate, parameters, permission, handler, in this order (D2, D4). */
export function createDispatcher({
  registry,
  filters,
  rest,
  errors,
  url,
  track,
  step,
}: DispatcherDependencies): Dispatcher {
  const attempt = createAttempt(errors);

  const prepare = async (request: HostRequest, { endpoint, url: parameters }: Match): Promise<RestError | null> => {
    const { authenticate, validate, handler } = endpoint.definition;
    if (typeof handler !== 'function') return hostErrors.invalidHandler();
    try {
      request.url = { ...parameters };
      if (authenticate !== undefined) {
        request.isUnauthenticated = true;
        await authenticate(request);
        request.isUnauthenticated = false;
      }
      if (request.unread !== null) return request.unread;
      const refused = await readParameters(request, endpoint, parameters);
      if (refused !== null || validate === undefined) return refused;
      return toRestError(await validate(request));
    } catch (error) {
      return errors.fromRoute(error, request);
    }
  };

  const conclude = async (request: HostRequest, match: Match, error: RestError | null): Promise<RestResponse> => {
    const { definition } = match.endpoint;
    let result: unknown = await filters.run('rest_request_before_callbacks', error, definition, request);
    if (!(result instanceof RestError)) result = await step('Permission', () => permit(request, match, attempt));
    if (!(result instanceof RestError)) {
      const replaced = await filters.run('rest_dispatch_request', null, request, match.route.pattern.path, definition);
      result =
        replaced ?? (await attempt(request, () => track(nameOf(request, match), () => definition.handler(request))));
    }
    const filtered = await filters.run('rest_request_after_callbacks', result, definition, request);
    endReplaced(result, filtered);
    return asResponse(filtered);
  };

  const describeOptions = (request: HostRequest): RestResponse => {
    const found = registry.matchPath(request.route);
    return new RestResponse({ body: found === null ? [] : describeRoute(found.route, { url, withSchema: true }) });
  };

  const preDispatch = async (request: HostRequest): Promise<RestResponse | null> => {
    const early = await filters.run('rest_pre_dispatch', null, rest(), request);
    return early === null || early === undefined ? null : asResponse(early);
  };

  const dispatch = async (request: HostRequest): Promise<RestResponse> => {
    try {
      const early = await preDispatch(request);
      if (early !== null) return early;
      if (request.method === 'OPTIONS') return describeOptions(request);
      const match = (request.match ??= registry.match(request.method, request.route));
      if (match === null) return errorResponse(hostErrors.noRoute());
      return await conclude(request, match, await step('Arguments and key', () => prepare(request, match)));
    } catch (error) {
      return errorResponse(errors.fromElsewhere(error, request));
    }
  };

  return { dispatch, preDispatch, prepare, conclude };
}

function nameOf({ method }: HostRequest, { route }: Match): string {
  return `${method} ${route.pattern.path}`;
}

type Attempt = (request: HostRequest, run: () => unknown) => Promise<unknown>;

/** Returns the value, or the thrown error as a RestError. */
function createAttempt(errors: ErrorReader): Attempt {
  return async (request, run) => {
    try {
      return await run();
    } catch (error) {
      return errors.fromRoute(error, request);
    }
  };
}

/**
 * Checks the endpoint's permission. As in WordPress, false and null refuse, a RestError is sent as it is, and anything
 * else allows.
 */
async function permit(request: HostRequest, { endpoint }: Match, attempt: Attempt): Promise<RestError | null> {
  const { permission } = endpoint.definition;
  if (permission === undefined) return null;
  const result = await attempt(request, () => permission(request));
  request.permitted = result === true;
  if (result instanceof RestError) return result;
  return result === false || result === null || result === undefined ? hostErrors.forbidden(request.user.id > 0) : null;
}

function toRestError(result: unknown): RestError | null {
  if (result instanceof RestError) return result;
  return result === false ? restError(400, 'rest_invalid_params', 'Invalid parameters.') : null;
}

function asResponse(result: unknown): RestResponse {
  if (result instanceof RestResponse) return result;
  return result instanceof RestError ? errorResponse(result) : new RestResponse({ body: result });
}
