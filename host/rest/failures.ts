import type { Logger, RestError } from '#plugin-api';
import { asRestError } from './error-response.ts';
import { hostErrors } from './errors.ts';
import type { HostRequest } from './request.ts';
import type { HandlerFailure } from './rest-contract.ts';

export interface FailureDependencies {
  readonly log: Logger;
  readonly onFailure: (failure: HandlerFailure) => void;
}

/** What was thrown, as a RestError; whatever is none was unforeseen: it is logged, and only its request id told (D4). */
export type ErrorReader = (thrown: unknown, request: HostRequest) => RestError;

export function createErrorReader({ log, onFailure }: FailureDependencies): ErrorReader {
  const report = (error: unknown, request: HostRequest): void => {
    const { match, method, id } = request;
    const route = match?.route.pattern.path ?? request.route;
    // A handler that gives up because its caller did has not failed.
    if (request.isHungUp) return log.debug('REST request ended: the caller hung up', { route, request_id: id });
    log.error('REST request failed', { route, method, request_id: id, error });
    if (match !== null) onFailure({ route, namespace: match.route.namespace, definition: match.endpoint.definition, error, requestId: id });
  };
  return (thrown, request) => {
    const foreseen = asRestError(thrown);
    if (foreseen !== null) return foreseen;
    report(thrown, request);
    return hostErrors.internal(request.id);
  };
}
