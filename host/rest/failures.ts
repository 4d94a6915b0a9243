import type { Logger, RestError } from '#plugin-api';
import { asRestError } from './error-response.ts';
import { hostErrors } from './errors.ts';
import type { HostRequest } from './request.ts';
import type { HandlerFailure } from './rest-contract.ts';

export interface FailureDependencies {
  readonly log: Logger;
  readonly onFailure: (failure: HandlerFailure) => void;
}

/** Makes a RestError of anything thrown; what was unforeseen is logged, and only its request id told (D4). */
export interface ErrorReader {
  /** For what a route's own functions throw: listeners are told too. */
  fromRoute(thrown: unknown, request: HostRequest): RestError;
  /** For what others throw on the way: filters, the look-up of the user. */
  fromElsewhere(thrown: unknown, request: HostRequest): RestError;
}

export function createErrorReader({ log, onFailure }: FailureDependencies): ErrorReader {
  const report = (error: unknown, request: HostRequest): void => {
    const { match, method, id } = request;
    log.error('REST request failed', {
      route: match?.route.pattern.path ?? request.route,
      method,
      request_id: id,
      error,
    });
  };
  return {
    fromRoute(thrown, request) {
      const foreseen = asRestError(thrown);
      if (foreseen !== null) return foreseen;
      const { match, id } = request;
      if (request.isHungUp) {
        // A handler that gives up because its caller did has not failed.
        log.debug('REST request ended: the caller hung up', { route: request.route, request_id: id });
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
      const foreseen = asRestError(thrown);
      if (foreseen === null) report(thrown, request);
      return foreseen ?? hostErrors.internal(request.id);
    },
  };
}
