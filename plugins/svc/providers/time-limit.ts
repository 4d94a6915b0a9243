import { isRecord } from '#plugin-api';
import { errorFromThrown, unreadableResponse } from './provider-errors.ts';
import { ProviderError, type ProviderConnection } from './provider.ts';
import { type JsonObject } from './json.ts';

/**
 * Runs one exchange with the upstream under the connection's time limit and signal, until the body is read. The SDKs'
 * limits cover only the time until the headers.
 *
 * @throws ProviderError of kind `timeout` or `aborted`, or of the upstream's error.
 */
export async function withTimeLimit<T>(
  connection: ProviderConnection,
  exchange: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, timeout, signal } = connection;
  const controller = new AbortController();
  const ended: { as: 'timeout' | 'aborted' | null } = { as: signal?.aborted ? 'aborted' : null };
  const end = (as: 'timeout' | 'aborted'): void => {
    ended.as ??= as;
    controller.abort();
  };
  const onAbort = (): void => {
    end('aborted');
  };
  if (ended.as !== null) throw endedFailure(ended.as);
  signal?.addEventListener('abort', onAbort, { once: true });
  const cancel = clock.after(timeout, () => {
    end('timeout');
  });
  try {
    return await exchange(controller.signal);
  } catch (thrown) {
    throw ended.as === null ? errorFromThrown(thrown, connection) : endedFailure(ended.as, thrown);
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}

function endedFailure(as: 'timeout' | 'aborted', cause?: unknown): ProviderError {
  return new ProviderError({
    kind: as,
    message: as === 'timeout' ? 'it did not respond in time.' : 'the request was canceled.',
    cause,
  });
}

/** Milliseconds for the SDK's limit: later than ours, so that ours applies. */
export function sdkTimeout(connection: ProviderConnection): number {
  return Math.ceil(connection.timeout) + 1000;
}

/** The JSON object of a response. Throws ProviderError `unreadable` for anything else, and the stream's error if the connection is cut. */
export async function readJson(response: Response): Promise<JsonObject> {
  const text = await response.text();
  const type = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw unreadableResponse(text === '' ? 'it was empty' : `${type}, not JSON`, response.status);
  }
  if (!isRecord(body)) throw unreadableResponse('JSON, but not an object', response.status);
  return body;
}
