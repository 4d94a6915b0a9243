import { AsyncLocalStorage } from 'node:async_hooks';
import { errorFromResponse, errorFromThrown } from './store-errors.ts';
import { VectorStoreError, type VectorStoreConnection } from './vector-store.ts';
import { runWithinLimit } from '../kit/time-limit.ts';

interface Exchange {
  readonly connection: VectorStoreConnection;
  readonly signal: AbortSignal;
  failure: VectorStoreError | null;
}

const current = new AsyncLocalStorage<Exchange>();

/**
 * Runs a call of a vendor's client under the connection's time limit and signal. `exchangeFetch` records an error response
 * before the client replaces the store's message with a generic one. Clients are shared; async context links their `fetch`
 * to the exchange.
 *
 * @param call gets the signal, for clients without a `fetch` option.
 * @param toFailure the failure in an error of such a client, or null.
 * @throws VectorStoreError, or any other error unchanged.
 */
export function exchange<T>(
  connection: VectorStoreConnection,
  call: (signal: AbortSignal) => Promise<T>,
  toFailure: (thrown: unknown) => VectorStoreError | null = () => null,
): Promise<T> {
  const run = async (signal: AbortSignal): Promise<T> => {
    const running: Exchange = { connection, signal, failure: null };
    try {
      const result = await current.run(running, () => call(signal));
      // Some clients neither throw nor return a result if the store failed.
      if (running.failure === null) return result;
    } catch (thrown) {
      throw running.failure ?? toFailure(thrown) ?? errorFromThrown(thrown);
    }
    throw running.failure;
  };
  return runWithinLimit(connection, run, {
    ended: (init) => new VectorStoreError(init),
    failed: (thrown) => thrown,
  });
}

/** The `fetch` for vendors' clients; uses that of the current exchange. Follows no redirects, to keep the key on its host. */
export const exchangeFetch: typeof globalThis.fetch = async (input, init) => {
  const running = current.getStore();
  if (running === undefined) throw new Error('A client of a vector store was used outside an exchange.');
  const { url, options } = await plainRequest(input, init);
  let response: Response;
  try {
    response = await running.connection.fetch(url, { ...options, signal: running.signal, redirect: 'manual' });
  } catch (thrown) {
    const failure = errorFromThrown(thrown);
    if (failure instanceof VectorStoreError) running.failure = failure;
    throw thrown;
  }
  if (response.status >= 200 && response.status < 300) return response;
  const text = await response.text();
  running.failure = errorFromResponse({ status: response.status, headers: response.headers, text }, running.connection);
  const bodiless = [101, 204, 205, 304].includes(response.status);
  return new Response(bodiless ? null : text, { status: response.status, headers: response.headers });
};

/** Some clients build a Request with a stream as its body; this reads it, so that its length is known. */
async function plainRequest(
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<{ url: string; options: RequestInit }> {
  if (!(input instanceof Request)) return { url: String(input), options: init ?? {} };
  const body = input.body === null ? null : await input.text();
  return { url: input.url, options: { method: input.method, headers: input.headers, ...(body !== null && { body }) } };
}
