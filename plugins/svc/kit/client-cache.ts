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
  const byFetch = new WeakMap<typeof globalThis.fetch, Map<string, Promise<Client>>>();
  return {
    get(fetch, parts, build) {
      const clients = byFetch.get(fetch) ?? new Map<string, Promise<Client>>();
      byFetch.set(fetch, clients);
      const key = JSON.stringify(parts);
      const client = clients.get(key) ?? build();
      clients.delete(key);
      clients.set(key, client);
      client.catch(() => clients.delete(key));
      const oldest = clients.keys().next().value;
      if (clients.size > limit && oldest !== undefined) clients.delete(oldest);
      return client;
    },
  };
}

interface RequestOptions {
  readonly headers?: unknown;
  readonly body?: unknown;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly idempotencyKey?: unknown;
}

interface HeadersInit {
  readonly options: RequestOptions;
  readonly method: string;
  readonly bodyHeaders?: unknown;
  readonly retryCount: number;
}

interface BodyInit {
  readonly options: RequestOptions;
}

interface BuiltBody {
  readonly body: unknown;
  readonly bodyHeaders: unknown;
  readonly isStreamingBody?: boolean;
}

/** Methods of the clients of the `openai` and the Anthropic package. */
interface SdkClient {
  buildBody(init: BodyInit): BuiltBody;
  buildHeaders(init: HeadersInit): Promise<Headers>;
  buildURL(path: string, query?: unknown, base?: string): string;
}

const jsonHeaders = { 'content-type': 'application/json' };

/**
 * Makes a client of the `openai` or the Anthropic package build equal headers and URLs once instead of for each call, which
 * takes half of what the SDK adds to it. Headers differ by the method, the seconds of the time limit and the type of the
 * body. Calls with headers or a query of their own, or with a body that is not JSON, are left alone.
 */
export function reuseRequests<Client extends object>(client: Client): Client {
  const sdk = client as SdkClient;
  const buildBody = sdk.buildBody.bind(client);
  const buildHeaders = sdk.buildHeaders.bind(client);
  const buildURL = sdk.buildURL.bind(client);
  const headersBy = new Map<string, Promise<Headers>>();
  const urls = new Map<string, string>();
  return Object.assign(client, {
    buildBody(init: BodyInit): BuiltBody {
      const { body, headers } = init.options;
      const isJson = headers === undefined && isRecord(body) && Object.getPrototypeOf(body) === Object.prototype;
      return isJson
        ? { bodyHeaders: jsonHeaders, body: JSON.stringify(body), isStreamingBody: false }
        : buildBody(init);
    },
    buildHeaders(init: HeadersInit): Promise<Headers> {
      const { options, method, bodyHeaders, retryCount } = init;
      const hasOwn = options.headers !== undefined || options.idempotencyKey !== undefined;
      if (hasOwn || (bodyHeaders !== undefined && bodyHeaders !== jsonHeaders)) return buildHeaders(init);
      const seconds = Math.trunc((options.timeout ?? 0) / 1000);
      const key = `${method} ${seconds} ${retryCount} ${bodyHeaders === undefined ? 'no body' : 'JSON'}`;
      return remember(headersBy, key, async () => new FixedHeaders(Object.fromEntries(await buildHeaders(init))));
    },
    buildURL: (path: string, query?: unknown, base?: string): string =>
      query === undefined && base === undefined
        ? remember(urls, path, () => buildURL(path))
        : buildURL(path, query, base),
  });
}

/** A promise that is rejected is rejected for its callers only. */
function remember<Value>(known: Map<string, Value>, key: string, build: () => Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const value = build();
  if (known.size >= 100) known.clear();
  known.set(key, value);
  if (value instanceof Promise) value.catch(() => known.delete(key));
  return value;
}
