import { isRecord, RestError, RestResponse, type Logger } from '#plugin-api';
import { isUnavailable } from '../database/outages.ts';
import { hostErrors } from './host-errors.ts';
import type { HostRequest } from './host-request.ts';
import type { HandlerFailure } from './rest-contract.ts';

/** One error in the shape every caller sees (contract 7). */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly data: unknown;
  readonly additional_errors?: readonly ErrorBody[];
}

/**
 * Converts a thrown value to a RestError: a RestError, or any object with a string `code` and a `status` of 400..599.
 * Null for everything else: unexpected errors are logged and never shown to the caller.
 */
export function asRestError(thrown: unknown): RestError | null {
  if (thrown instanceof RestError) return thrown;
  if (typeof thrown !== 'object' || thrown === null) return null;
  const { code, status, message, data, headers } = thrown as Record<string, unknown>;
  if (typeof code !== 'string' || typeof status !== 'number' || !isErrorStatus(status)) return null;
  return new RestError({
    code,
    status,
    data,
    message: typeof message === 'string' ? message : code,
    ...(isRecord(headers) && { headers: headers as Record<string, string> }),
    cause: thrown,
  });
}

function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

/** Every error response is built here. */
export function errorResponse(error: RestError): RestResponse {
  const response = new RestResponse({
    status: isErrorStatus(error.status) ? error.status : 500,
    headers: error.headers,
    body: errorBody(error),
  });
  errors.add(response);
  return response;
}

const errors = new WeakSet<RestResponse>();

/** Whether `errorResponse` built the response. */
export function isErrorResponse(response: RestResponse): boolean {
  return errors.has(response);
}

export function errorBody(error: RestError): ErrorBody {
  const { code, message, additional } = error;
  const body = { code, message, data: errorData(error) };
  return additional.length === 0 ? body : { ...body, additional_errors: additional.map(errorBody) };
}

/** Object members are added to the status; any other value replaces it. */
function errorData({ data, status }: RestError): unknown {
  if (data === undefined) return { status };
  return isRecord(data) ? { status, ...data } : data;
}

interface FailureDependencies {
  readonly log: Logger;
  readonly onFailure: (failure: HandlerFailure) => void;
}

/**
 * Converts anything thrown to a RestError. Unexpected errors are logged, and the caller sees only the request id (D4), or 503 while
 * the database is unavailable.
 */
export interface ErrorReader {
  /** For errors of a route's own functions; also notifies the listeners. */
  fromRoute(thrown: unknown, request: HostRequest): RestError;
  /** For errors outside the route: filters, or loading the user. */
  fromElsewhere(thrown: unknown, request: HostRequest): RestError;
}

export function createErrorReader({ log, onFailure }: FailureDependencies): ErrorReader {
  const report = (error: unknown, request: HostRequest): void => {
    const { match, method, id } = request;
    const [level, event] = isUnavailable(error)
      ? (['warn', 'rest_request_unavailable'] as const)
      : (['error', 'rest_request_failed'] as const);
    log[level]('REST request failed', {
      event,
      route: match?.route.pattern.path ?? request.route,
      method,
      request_id: id,
      ...(match !== null && match.endpoint.owner !== 'host' && { plugin: match.endpoint.owner }),
      error,
    });
  };
  return {
    fromRoute(thrown, request) {
      const expected = asRestError(thrown);
      if (expected !== null) return expected;
      const { match, id } = request;
      if (request.isHungUp) {
        // A handler that stops because its caller hung up has not failed.
        log.debug('REST request ended: the caller hung up', {
          event: 'rest_request_hung_up',
          route: request.route,
          request_id: id,
        });
        return hostErrors.internal(id);
      }
      report(thrown, request);
      if (isUnavailable(thrown)) return hostErrors.unavailable(thrown);
      if (match !== null)
        onFailure({
          route: match.route.pattern.path,
          namespace: match.route.namespace,
          definition: match.endpoint.definition,
          error: thrown,
          requestId: id,
        });
      return hostErrors.internal(id);
    },
    fromElsewhere(thrown, request) {
      const expected = asRestError(thrown);
      if (expected !== null) return expected;
      report(thrown, request);
      return isUnavailable(thrown) ? hostErrors.unavailable(thrown) : hostErrors.internal(request.id);
    },
  };
}
