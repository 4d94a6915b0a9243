import type { Logger, RestError } from '#plugin-api';
import { asRestError } from './error-response.ts';
import { hostErrors } from './host-errors.ts';
import type { HostRequest } from './host-request.ts';
import type { HandlerFailure } from './rest-contract.ts';

export interface FailureDependencies {
  readonly log: Logger;
  readonly onFailure: (failure: HandlerFailure) => void;
}

/** Converts anything thrown to a RestError. Unexpected errors are logged, and the caller sees only the request id (D4). */
export interface ErrorReader {
  /** For errors of a route's own functions; also notifies the listeners. */
  fromRoute(thrown: unknown, request: HostRequest): RestError;
  /** For errors outside the route: filters, or loading the user. */
  fromElsewhere(thrown: unknown, request: HostRequest): RestError;
}

export function createErrorReader({ log, onFailure }: FailureDependencies): ErrorReader {
  const report = (error: unknown, request: HostRequest): void => {
    const { match, method, id } = request;
    log.error('REST request failed', {
      event: 'rest_request_failed',
      route: match?.route.pattern.path ?? request.route,
      method,
      request_id: id,
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
      if (expected === null) report(thrown, request);
      return expected ?? hostErrors.internal(request.id);
    },
  };
}
