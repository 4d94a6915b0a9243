import type { Dispatcher } from 'undici';
import { isUrl, type HttpApi } from '#plugin-api';
import { memoize } from '../kit/caches.ts';
import { createUpstreamFetch, type UpstreamFetch } from './upstream-fetch.ts';

/** How an upstream is reached: one `fetch`, and the pool behind it for clients without an option for a `fetch`. */
export interface UpstreamAccess {
  readonly fetch: typeof globalThis.fetch;
  dispatcher(): Promise<Dispatcher>;
}

/** HTTP for calls to providers and vector stores. Every connection passes the outbound guard (D23, D35). */
export interface UpstreamHttp {
  /**
   * The access to the upstream at a URL that an administrator entered. Private addresses are allowed for the host name of that
   * URL alone; other hosts, such as one that an upstream names, must be public. Metadata and link-local addresses are never
   * called. Equal host names return the same object, so that clients can be cached by their `fetch`.
   *
   * @param url blank or invalid: public addresses only.
   */
  accessTo(url: string | undefined): UpstreamAccess;
  /** Closes the connections after the running calls have finished. */
  close(): Promise<void>;
}

/** Accesses that are kept; a site has about a dozen upstreams. */
const maxAccesses = 200;

export function createUpstreamHttp({ http }: { readonly http: Pick<HttpApi, 'connector'> }): UpstreamHttp {
  const entered = createUpstreamFetch({ connect: http.connector({ allowInternal: true }) });
  const others = createUpstreamFetch({ connect: http.connector() });
  const accesses = new Map<string, UpstreamAccess>();
  const byUrl = new Map<string, UpstreamAccess>();

  function open(hostname: string): UpstreamAccess {
    const clientFor = memoize((url): UpstreamFetch => (new URL(url).hostname === hostname ? entered : others));
    return {
      fetch: (input, init) => clientFor(input instanceof Request ? input.url : String(input)).fetch(input, init),
      dispatcher: () => entered.dispatcher(),
    };
  }

  function accessToHost(hostname: string): UpstreamAccess {
    const access = accesses.get(hostname) ?? open(hostname);
    if (accesses.size >= maxAccesses) accesses.clear();
    accesses.set(hostname, access);
    return access;
  }

  return {
    accessTo(url = '') {
      const known = byUrl.get(url);
      if (known !== undefined) return known;
      const access = isUrl(url) ? accessToHost(new URL(url).hostname) : others;
      if (byUrl.size >= maxAccesses) byUrl.clear();
      byUrl.set(url, access);
      return access;
    },
    close: async () => {
      await Promise.all([entered.close(), others.close()]);
    },
  };
}
