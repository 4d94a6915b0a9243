import { RestError, RestResponse } from '#plugin-api';
import { endReplaced } from './content.ts';
import { errorResponse } from './error-response.ts';
import { hostErrors } from './errors.ts';
import type { ErrorReader } from './failures.ts';
import { readParameters } from './parameters.ts';
import type { Match, RouteRegistry } from './registry.ts';
import type { HostRequest } from './request.ts';
import type { Rest } from './rest-contract.ts';
import type { RestFilters } from './rest-filters.ts';
import { describeRoute } from './route-description.ts';

export interface DispatcherDependencies {
  readonly registry: RouteRegistry;
  readonly filters: RestFilters;
  readonly rest: () => Rest;
  readonly errors: ErrorReader;
  readonly url: (route: string) => string;
}

export interface Dispatcher {
  /** From the request to the answer of its route; every error comes back as an answer. */
  dispatch(request: HostRequest): Promise<RestResponse>;
  /** Authentication and parameters of a matched request: the refusal, or null. */
  prepare(request: HostRequest, match: Match): Promise<RestError | null>;
  /** Permission and handler of a prepared request. */
  conclude(request: HostRequest, match: Match, error: RestError | null): Promise<RestResponse>;
}

/** The way of a request: match, authenticate, parameters, permission, handler, in this order (D2, D4). */
export function createDispatcher({ registry, filters, rest, errors, url }: DispatcherDependencies): Dispatcher {
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
      if (request.isTooLarge) return hostErrors.bodyTooLarge(endpoint.bodyLimit);
      const refused = await readParameters(request, endpoint, parameters);
      if (refused !== null || validate === undefined) return refused;
      return refusalOf(await validate(request));
    } catch (error) {
      return errors.fromRoute(error, request);
    }
  };

  const conclude = async (request: HostRequest, match: Match, error: RestError | null): Promise<RestResponse> => {
    const { definition } = match.endpoint;
    let result: unknown = await filters.run('rest_request_before_callbacks', error, definition, request);
    if (!(result instanceof RestError)) result = await permit(request, match, attempt);
    if (!(result instanceof RestError)) {
      const replaced = await filters.run('rest_dispatch_request', null, request, match.route.pattern.path, definition);
      result = replaced ?? (await attempt(request, () => definition.handler(request)));
    }
    const answered = await filters.run('rest_request_after_callbacks', result, definition, request);
    endReplaced(result, answered);
    return asResponse(answered);
  };

  const answerOptions = (request: HostRequest): RestResponse => {
    const found = registry.matchPath(request.route);
    return new RestResponse({ body: found === null ? [] : describeRoute(found.route, { url, withSchema: true }) });
  };

  const dispatch = async (request: HostRequest): Promise<RestResponse> => {
    try {
      const early = await filters.run('rest_pre_dispatch', null, rest(), request);
      if (early !== null && early !== undefined) return asResponse(early);
      if (request.method === 'OPTIONS') return answerOptions(request);
      const match = (request.match ??= registry.match(request.method, request.route));
      if (match === null) return errorResponse(hostErrors.noRoute());
      return await conclude(request, match, await prepare(request, match));
    } catch (error) {
      return errorResponse(errors.fromElsewhere(error, request));
    }
  };

  return { dispatch, prepare, conclude };
}

type Attempt = (request: HostRequest, run: () => unknown) => Promise<unknown>;

/** Answers the value, or the RestError that was thrown. */
function createAttempt(errors: ErrorReader): Attempt {
  return async (request, run) => {
    try {
      return await run();
    } catch (error) {
      return errors.fromRoute(error, request);
    }
  };
}

/** Asks the endpoint's permission: as in WordPress false and null refuse, a RestError answers itself, all else lets in. */
async function permit(request: HostRequest, { endpoint }: Match, attempt: Attempt): Promise<RestError | null> {
  const { permission } = endpoint.definition;
  if (permission === undefined) return null;
  const answer = await attempt(request, () => permission(request));
  request.permitted = answer === true;
  if (answer instanceof RestError) return answer;
  return answer === false || answer === null || answer === undefined ? hostErrors.forbidden(request.user.id > 0) : null;
}

function refusalOf(answer: unknown): RestError | null {
  if (answer instanceof RestError) return answer;
  return answer === false
    ? new RestError({ code: 'rest_invalid_params', message: 'Invalid parameters.', status: 400 })
    : null;
}

function asResponse(result: unknown): RestResponse {
  if (result instanceof RestResponse) return result;
  return result instanceof RestError ? errorResponse(result) : new RestResponse({ body: result });
}
