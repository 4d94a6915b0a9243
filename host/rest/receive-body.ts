import { RestError } from '#plugin-api';
import { bodyKind } from './body-kind.ts';
import { hasSmallBody } from './body-reader.ts';
import type { ErrorReader } from './error-response.ts';
import { hostErrors } from './host-errors.ts';
import type { HostRequest } from './host-request.ts';
import type { Match } from './registry.ts';
import type { RawRestRequest } from './rest-contract.ts';

/** Reads the body into the request. Returns why the request is refused instead, or null. */
export type ReceiveBody = (raw: RawRestRequest, request: HostRequest, match: Match) => Promise<RestError | null>;

/**
 * Decides before a body is read whether it may come, and how large it may be. A small body is read in any case and the errors
 * keep WordPress's order, parameters before permission.
 */
export function createBodyReceiver(errors: ErrorReader): ReceiveBody {
  const admit = async (request: HostRequest, { endpoint, url }: Match): Promise<boolean | RestError> => {
    const { permissionBeforeBody } = endpoint.definition;
    const isKnown = request.user.id > 0;
    if (permissionBeforeBody === undefined) return isKnown;
    try {
      request.url = { ...url };
      const result = await permissionBeforeBody(request);
      if (result === false) return hostErrors.forbidden(isKnown);
      return result instanceof RestError ? result : result === true || isKnown;
    } catch (error) {
      return errors.fromRoute(error, request);
    }
  };

  return async (raw, request, match) => {
    const { endpoint } = match;
    const admitted = hasSmallBody(raw.headers) ? request.user.id > 0 : await admit(request, match);
    if (admitted instanceof RestError) return admitted;
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (!/^identity$/i.test(encoding)) {
      request.unread = hostErrors.encodedBody(encoding);
      return null;
    }
    const kind = bodyKind(request);
    const limit = endpoint.bodyLimit(kind, admitted);
    try {
      const body = await raw.readBody({ limit, isAnonymous: !admitted });
      if (body === null) request.unread = tooLarge(limit, endpoint.bodyLimit(kind, true));
      else await request.receive(body);
      return null;
    } catch (error) {
      if (error instanceof RestError) return error;
      throw error;
    }
  };
}

function tooLarge(limit: number, most: number): RestError {
  return limit < most ? hostErrors.anonymousBodyTooLarge(limit, most) : hostErrors.bodyTooLarge(limit);
}
