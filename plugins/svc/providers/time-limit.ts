import { isRecord } from '#plugin-api';
import { errorFromThrown, unreadableResponse } from './provider-errors.ts';
import { ProviderError, type ProviderConnection } from './provider.ts';
import { type JsonObject } from './json.ts';
import { runWithinLimit } from '../kit/time-limit.ts';

/**
 * Runs one exchange with the upstream under the connection's time limit and signal, until the body is read.
 *
 * @throws ProviderError of kind `timeout` or `aborted`, or of the upstream's error.
 */
export function withTimeLimit<T>(
  connection: ProviderConnection,
  exchange: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return runWithinLimit(connection, exchange, {
    ended: (init) => new ProviderError(init),
    failed: (thrown) => errorFromThrown(thrown, connection),
  });
}

/** Milliseconds for the SDK's limit: later than ours, so that ours applies. */
export function sdkTimeout(connection: ProviderConnection): number {
  return Math.ceil(connection.timeout) + 1000;
}

/** The JSON object of a response. Throws ProviderError `unreadable` for anything else, and the stream's error if the connection is cut. */
export async function readJson(response: Response): Promise<JsonObject> {
  return jsonObject(await response.text(), response);
}

/** The JSON object that is the text of a response. @throws ProviderError `unreadable` for anything else */
export function jsonObject(text: string, response: Pick<Response, 'headers' | 'status'>): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    const type = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
    throw unreadableResponse(text === '' ? 'it was empty' : `${type}, not JSON`, response.status);
  }
  if (!isRecord(body)) throw unreadableResponse('JSON, but not an object', response.status);
  return body;
}
