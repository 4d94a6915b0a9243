import { errorFromResponse, unreadableResponse } from '../provider-errors.ts';
import { isObject, objectAt, textAt, type JsonObject } from '../json.ts';
import { ProviderError, type ProviderConnection } from '../provider.ts';

/** Names of errors without a status, and the status that applies. */
const statuses: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/rate.?limit|too_many|quota|RESOURCE_EXHAUSTED/i, 429],
  [/overloaded/i, 529],
  [/authentication|invalid_api_key|UNAUTHENTICATED/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/request_too_large/i, 413],
  [/timeout|DEADLINE_EXCEEDED/i, 504],
  [/unavailable/i, 503],
  [/invalid|content_filter|context_length|FAILED_PRECONDITION/i, 400],
];

/** The ProviderError of an error in the stream, mapped by its status, or as 502 if that is unknown. */
export function errorFromStream(
  body: unknown,
  connection: Pick<ProviderConnection, 'settings' | 'clock'>,
): ProviderError {
  const error = objectAt(body, 'error');
  const code = Number(error['code'] ?? error['status']);
  const name = [textAt(error, 'type'), textAt(error, 'code'), textAt(error, 'status')].find(
    (found) => found !== null && Number.isNaN(Number(found)),
  );
  const named = statuses.find(([pattern]) => pattern.test(name ?? ''))?.[1];
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : (named ?? 502);
  return errorFromResponse({ status, headers: new Headers(), body }, connection);
}

/** The stream ended without its end marker, so the text is incomplete. */
export function truncatedStream(): ProviderError {
  return new ProviderError({ kind: 'connection', message: 'its response ended early.' });
}

/** The JSON object of an event. */
export function parseEvent(data: string): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(data);
  } catch {
    throw unreadableResponse('an event that is not JSON');
  }
  if (!isObject(body)) throw unreadableResponse('an event that is not an object');
  return body;
}
