import type { Readable } from 'node:stream';
import type { Agent, Dispatcher, buildConnector } from 'undici';
import type { undiciResponse } from './undici-response.ts';

export interface UndiciFetch {
  readonly fetch: typeof globalThis.fetch;
  /** The connection pool, for clients that have no option for a `fetch`. */
  dispatcher(): Promise<Dispatcher>;
  /** Closes the connections after the running calls have finished. */
  close(): Promise<void>;
}

export interface UndiciFetchParts {
  /** Opens connections behind the outbound guard: `host.http.connector()` (D35). */
  readonly connect: buildConnector.connector;
  /** Kept open per host, 1 or more. Default 256. */
  readonly connections?: number;
}

/**
 * A `fetch` on undici's `request`, which gives the SDKs about 50 % more calls per second than the global one. It supports
 * what they use: method, headers, bodies of text, bytes or streams, abort signals, whole and streamed responses. Redirects
 * are returned, never followed, so that a key stays with the host it was saved for. Errors are those of `fetch`: the
 * signal's reason, or a TypeError "fetch failed" whose causes have the guard's and undici's codes.
 *
 * The first call loads undici; idle connections do not keep the process alive.
 */
export function createUndiciFetch({ connect, connections = 256 }: UndiciFetchParts): UndiciFetch {
  let pool: Promise<Pool> | undefined;
  const open = async (): Promise<Pool> => {
    const [{ Agent, request }, { undiciResponse }] = await Promise.all([
      import('undici'),
      import('./undici-response.ts'),
    ]);
    // Calls have their own time limits.
    const agent = new Agent({
      connections,
      connect,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 10_000,
    });
    return { agent, request, toResponse: undiciResponse };
  };
  return {
    fetch: async (input, init) => {
      const { url, options } = requestOf(input, init);
      options.signal?.throwIfAborted();
      const { agent, request, toResponse } = await (pool ??= open());
      try {
        return toResponse(url, await request(url, { ...options, dispatcher: agent }));
      } catch (error) {
        if (options.signal?.aborted) throw options.signal.reason;
        throw new TypeError('fetch failed', { cause: error });
      }
    },
    dispatcher: async () => (await (pool ??= open())).agent,
    close: async () => {
      const opened = await pool;
      pool = undefined;
      await opened?.agent.close();
    },
  };
}

interface Pool {
  readonly agent: Agent;
  readonly request: typeof import('undici').request;
  readonly toResponse: typeof undiciResponse;
}

interface UndiciOptions {
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | Readable | null;
  readonly signal: AbortSignal | null;
}

function requestOf(input: string | URL | Request, init: RequestInit = {}): { url: string; options: UndiciOptions } {
  const from = input instanceof Request ? input : undefined;
  const list = init.headers ?? from?.headers;
  const headers = Object.fromEntries(list instanceof Headers ? list : new Headers(list));
  const given = init.body ?? from?.body ?? null;
  if (typeof given === 'string') headers['content-type'] ??= 'text/plain;charset=UTF-8';
  return {
    url: from?.url ?? String(input),
    options: {
      method: (init.method ?? from?.method ?? 'GET').toUpperCase() as Dispatcher.HttpMethod,
      headers,
      body: bodyOf(given),
      signal: init.signal ?? from?.signal ?? null,
    },
  };
}

function bodyOf(body: RequestInit['body']): UndiciOptions['body'] {
  if (body === null || body === undefined || typeof body === 'string' || body instanceof Uint8Array)
    return body ?? null;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (Symbol.asyncIterator in body) return body as unknown as Readable;
  throw new TypeError('This fetch accepts only bodies of text, bytes and streams.');
}
