import { isRecord } from '#plugin-api';
import { FixedHeaders } from './fixed-headers.ts';

/** Caches clients per connection, so that a call does not build one. Each process has its own cache. */
export interface ClientCache<Client> {
  /**
   * @param fetch clients of different fetch functions are separate
   * @param parts the settings of the client; equal parts return the same client
   */
  get(fetch: typeof globalThis.fetch, parts: readonly unknown[], build: () => Promise<Client>): Promise<Client>;
}

/** @param limit clients per fetch function, 1 or more; the least recently used client is removed first */
export function createClientCache<Client>(limit = 32): ClientCache<Client> {
  const byFetch = new WeakMap<typeof globalThis.fetch, ReturnType<typeof createRecent<Client>>>();
  return {
    get(fetch, parts, build) {
      const known = byFetch.get(fetch);
      if (known !== undefined) return known(JSON.stringify(parts), build);
      const recent = createRecent<Client>(limit);
      byFetch.set(fetch, recent);
      return recent(JSON.stringify(parts), build);
    },
  };
}

/** The clients that were used last, in that order. One that cannot be built is built again by the next call. */
function createRecent<Client>(limit: number): (key: string, build: () => Promise<Client>) => Promise<Client> {
  const clients = new Map<string, Promise<Client>>();
  let newest: string | undefined;
  return (key, build) => {
    const known = clients.get(key);
    if (known !== undefined && key === newest) return known;
    clients.delete(key);
    const client = known ?? build();
    if (known === undefined) client.catch(() => clients.delete(key));
    clients.set(key, client);
    newest = key;
    const oldest = clients.keys().next().value;
    if (clients.size > limit && oldest !== undefined) clients.delete(oldest);
    return client;
  };
}

interface RequestOptions {
  readonly headers?: unknown;
  readonly body?: unknown;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly idempotencyKey?: unknown;
}

interface HeadersParts {
  readonly options: RequestOptions;
  readonly method: string;
  readonly bodyHeaders?: unknown;
  readonly retryCount: number;
}

interface BodyParts {
  readonly options: RequestOptions;
}

interface BuiltBody {
  readonly body: unknown;
  readonly bodyHeaders: unknown;
  readonly isStreamingBody?: boolean;
}

/** Methods of the clients of the `openai` and the Anthropic package. */
interface SdkClient {
  buildBody(init: BodyParts): BuiltBody;
  buildHeaders(init: HeadersParts): Promise<Headers>;
  buildURL(path: string, query?: unknown, base?: string): string;
  fetchWithTimeout(url: string, init: RequestInit | undefined, ...rest: unknown[]): Promise<Response>;
}

const jsonHeaders = { 'content-type': 'application/json' };

/**
 * Makes a client of the `openai` or the Anthropic package build equal headers and URLs once instead of for each call, which
 * takes half of what the SDK adds to it. Headers differ by the method, the seconds of the time limit and the type of the
 * body. Calls with headers or a query of their own, or with a body that is not JSON, are left alone.
 *
 * A call with a signal ends with that signal alone: the SDK's own time limit, with a timer and a second signal for each call,
 * only covers the time until the headers.
 *
 * @param fetch the client's own
 */
export function reuseRequests<Client extends object>(client: Client, fetch: typeof globalThis.fetch): Client {
  const sdk = client as SdkClient;
  const buildBody = sdk.buildBody.bind(client);
  const buildHeaders = sdk.buildHeaders.bind(client);
  const buildURL = sdk.buildURL.bind(client);
  const fetchWithTimeout = sdk.fetchWithTimeout.bind(client);
  const headersBy = new Map<string, Promise<Headers>>();
  const urlOf = memoize((path) => buildURL(path));
  return Object.assign(client, {
    buildBody(init: BodyParts): BuiltBody {
      const { body, headers } = init.options;
      const isJson = headers === undefined && isRecord(body) && Object.getPrototypeOf(body) === Object.prototype;
      return isJson
        ? { bodyHeaders: jsonHeaders, body: JSON.stringify(body), isStreamingBody: false }
        : buildBody(init);
    },
    buildHeaders(init: HeadersParts): Promise<Headers> {
      const { options, method, bodyHeaders, retryCount } = init;
      const hasOwn = options.headers !== undefined || options.idempotencyKey !== undefined;
      if (hasOwn || (bodyHeaders !== undefined && bodyHeaders !== jsonHeaders)) return buildHeaders(init);
      const seconds = Math.trunc((options.timeout ?? 0) / 1000);
      const key = `${method} ${seconds} ${retryCount} ${bodyHeaders === undefined ? 'no body' : 'JSON'}`;
      const known = headersBy.get(key);
      if (known !== undefined) return known;
      const built = buildHeaders(init).then((headers) => new FixedHeaders(Object.fromEntries(headers)));
      if (headersBy.size >= 100) headersBy.clear();
      headersBy.set(key, built);
      built.catch(() => headersBy.delete(key));
      return built;
    },
    buildURL: (path: string, query?: unknown, base?: string): string =>
      query === undefined && base === undefined ? urlOf(path) : buildURL(path, query, base),
    fetchWithTimeout: (url: string, init: RequestInit | undefined, ...rest: unknown[]): Promise<Response> =>
      init?.signal ? fetch(url, init) : fetchWithTimeout(url, init, ...rest),
  });
}

/**
 * Caches results by text. Each process has its own cache, of at most 1,000 results.
 *
 * @param compute not undefined for any text; what it throws is not cached
 */
export function memoize<Result>(compute: (text: string) => Result): (text: string) => Result {
  const cache = new Map<string, Result>();
  return (text) => {
    const found = cache.get(text);
    if (found !== undefined) return found;
    if (cache.size >= 1000) cache.clear();
    const result = compute(text);
    cache.set(text, result);
    return result;
  };
}
