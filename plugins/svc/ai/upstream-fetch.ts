import type { Dispatcher, RequestInfo, RequestInit as UndiciInit, buildConnector } from 'undici';
import { bytesListener } from '../kit/time-limit.ts';
import { fetchPlain, isPlain } from './upstream-request.ts';

export interface UpstreamFetch {
  readonly fetch: typeof globalThis.fetch;
  /** The connection pool, for clients that have no option for a `fetch`. */
  dispatcher(): Promise<Dispatcher>;
  /** Closes the connections after the running calls have finished. */
  close(): Promise<void>;
}

export interface UpstreamFetchParts {
  /** Opens connections behind the outbound guard: `host.http.connector()` (D35). */
  readonly connect: buildConnector.connector;
  /** Kept open per host, 1 or more. Default 256. */
  readonly connections?: number;
}

/** Bytes of a response as it was sent, beyond all images and embeddings of one request: the rest is not waited for (D46). */
const largestResponse = 256 * 1_048_576;

/**
 * A `fetch` on one undici pool behind the outbound guard, for vendors' clients. Redirects are returned, never followed, so that
 * a key stays with the host it was saved for. Errors are those of `fetch`: the signal's reason, or a TypeError "fetch failed"
 * whose causes have the guard's and undici's codes. Bytes of a response keep the limits of time of its exchange waiting (D50).
 *
 * The first call loads undici; idle connections do not keep the process alive.
 */
export function createUpstreamFetch({ connect, connections = 256 }: UpstreamFetchParts): UpstreamFetch {
  let opening: Promise<Pool> | undefined;
  const open = async (): Promise<Pool> => {
    const { Agent, fetch, request } = await import('undici');
    // Calls have their own limits of time.
    const agent = new Agent({
      connections,
      connect,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: largestResponse,
      keepAliveTimeout: 10_000,
    });
    return { dispatcher: agent.compose(reportBytes), fetch, request };
  };
  return {
    async fetch(input, init) {
      init?.signal?.throwIfAborted();
      const pool = await (opening ??= open());
      const given = { input, init };
      if (isPlain(given)) return fetchPlain(given, pool);
      const { dispatcher, fetch } = pool;
      // Two declarations of the same standard: Node's, and those of undici.
      const options = { ...init, redirect: 'manual', dispatcher } as UndiciInit;
      return (await fetch(input as RequestInfo, options)) as unknown as Response;
    },
    dispatcher: async () => (await (opening ??= open())).dispatcher,
    close: async () => {
      const opened = await opening;
      opening = undefined;
      await opened?.dispatcher.close();
    },
  };
}

interface Pool extends Pick<typeof import('undici'), 'fetch' | 'request'> {
  readonly dispatcher: Dispatcher;
}

/** Calls the exchange that sends a request back for the head of its response, and for each piece of the body. */
const reportBytes: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const report = bytesListener();
  if (report === undefined) return dispatch(options, handler);
  return dispatch(options, {
    onRequestStart: (...given) => handler.onRequestStart?.(...given),
    onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
    onResponseStart(...given) {
      if (given[1] >= 200) report();
      handler.onResponseStart?.(...given);
    },
    onResponseData(...given) {
      report();
      handler.onResponseData?.(...given);
    },
    onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
    onResponseError: (...given) => handler.onResponseError?.(...given),
  });
};
