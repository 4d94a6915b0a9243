import { createSystemClock } from '../../host/clock.ts';
import { createOutbound } from '../../host/http/outbound.ts';
import { createUpstreamFetch, type UpstreamFetch } from '../../plugins/svc/ai/upstream-fetch.ts';
import { createUpstreamHttp, type UpstreamHttp } from '../../plugins/svc/ai/upstream-http.ts';

const http = createOutbound({ clock: createSystemClock() });

/** The service's own access to upstreams, behind the real guard; local ones may be called by their URL. */
export const upstreamHttp = createUpstreamHttp({ http });

/** A pool of its own, which may call local upstreams. */
export function openUpstreamFetch(): UpstreamFetch {
  return createUpstreamFetch({ connect: http.connector({ allowInternal: true }) });
}

/** Sends every call through one `fetch`. */
export function upstreamThrough(fetch: typeof globalThis.fetch): UpstreamHttp {
  return {
    accessTo: () => ({ fetch, dispatcher: () => Promise.reject(new Error('This test has no dispatcher.')) }),
    close: () => Promise.resolve(),
  };
}
