import { AsyncLocalStorage } from 'node:async_hooks';
import { errorFromResponse, errorFromThrown } from './store-errors.ts';
import { VectorStoreError, type VectorStoreConnection } from './vector-store.ts';

interface Exchange {
  readonly connection: VectorStoreConnection;
  readonly signal: AbortSignal;
  failure: VectorStoreError | null;
}

const current = new AsyncLocalStorage<Exchange>();

/**
 * Runs a call of a vendor's client under the connection's time limit and its caller's signal, and says what the store did:
 * `exchangeFetch` keeps a failing answer before the client makes an error of its own of it, whose sentences leave out
 * what the store said. Clients are kept and shared; the exchange finds its way to their `fetch` by itself.
 *
 * @param call gets the signal, for clients that take no `fetch`.
 * @param failureOf the failure in an error of such a client, or null.
 * @throws VectorStoreError, or what was thrown where it is an error of ours.
 */
export async function exchange<T>(
  connection: VectorStoreConnection,
  call: (signal: AbortSignal) => Promise<T>,
  failureOf: (thrown: unknown) => VectorStoreError | null = () => null,
): Promise<T> {
  const { clock, timeout, signal: given } = connection;
  const controller = new AbortController();
  const running: Exchange = { connection, signal: controller.signal, failure: null };
  const ended: { as: 'timeout' | 'aborted' | null } = { as: given?.aborted ? 'aborted' : null };
  if (ended.as !== null) throw endedFailure(ended.as);
  const end = (as: 'timeout' | 'aborted'): void => {
    ended.as ??= as;
    controller.abort();
  };
  const onAbort = (): void => {
    end('aborted');
  };
  given?.addEventListener('abort', onAbort, { once: true });
  const cancel = clock.after(timeout, () => {
    end('timeout');
  });
  try {
    const result = await current.run(running, () => call(controller.signal));
    // Some clients answer nothing where the store failed, and throw nothing either.
    if (running.failure === null) return result;
  } catch (thrown) {
    if (ended.as !== null) throw endedFailure(ended.as, thrown);
    throw running.failure ?? failureOf(thrown) ?? errorFromThrown(thrown);
  } finally {
    cancel();
    given?.removeEventListener('abort', onAbort);
  }
  throw running.failure;
}

/** The `fetch` of the vendors' clients: that of the exchange under way, with its signal. Never follows a redirect, so that a key stays where it was saved for. */
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

/** Some clients build a Request, whose body is a stream of unknown length: it is sent whole. */
async function plainRequest(
  input: string | URL | Request,
  init: RequestInit | undefined,
): Promise<{ url: string; options: RequestInit }> {
  if (!(input instanceof Request)) return { url: String(input), options: init ?? {} };
  const body = input.body === null ? null : await input.text();
  return { url: input.url, options: { method: input.method, headers: input.headers, ...(body !== null && { body }) } };
}

function endedFailure(as: 'timeout' | 'aborted', cause?: unknown): VectorStoreError {
  return new VectorStoreError({
    kind: as,
    message: as === 'timeout' ? 'no answer came in time.' : 'the request was given up.',
    cause,
  });
}
