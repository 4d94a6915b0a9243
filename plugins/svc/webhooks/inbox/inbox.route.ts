import { RestError, RestResponse, restError, type HostApi, type Clock } from '#plugin-api';
import { defineRoute } from '../../kit/route.ts';
import { type InboxResponse, maxBodyBytes, type Inbox } from './inbox.ts';

const slowDelay = 3_000;
/** Longer than the default timeout of a sender, in milliseconds. */
const hangDelay = 30_000;
const maxWaiting = 64;

/** `POST /inbox/{token}`: public, protected by its token. Accepts 100 requests per second of at most 256 KB. */
export const inboxRoute = defineRoute<{ readonly host: Pick<HostApi, 'clock'>; readonly inbox: Inbox }>({
  path: '/inbox/(?P<token>[A-Za-z0-9_-]{8,64})',
  access: 'public',
  define: ({ host: { clock }, inbox }) => {
    const throttle = createThrottle({ clock, perSecond: 100, burst: 300 });
    let open = 0;

    async function wait(response: InboxResponse, signal: AbortSignal): Promise<void> {
      if (response !== 'slow' && response !== 'hang') return;
      if (open >= maxWaiting)
        throw restError(503, 'rest_svc_inbox_busy', 'Too many requests are waiting for a response. Try again later.');
      open += 1;
      try {
        await clock.sleep(response === 'slow' ? slowDelay : hangDelay, signal);
      } catch {
        // Expected: the sender closed the connection.
      } finally {
        open -= 1;
      }
    }

    return {
      methods: ['POST'],
      showInIndex: false,
      bodyLimit: maxBodyBytes,
      anonymousBodyLimit: maxBodyBytes,
      summary: 'Test receiver for event webhooks.',
      // Checked before anything is stored, so that a caller who knows the URL cannot fill the disk or the log.
      permission: () => {
        const seconds = throttle();
        if (seconds > 0)
          throw new RestError({
            code: 'rest_svc_inbox_busy',
            message: 'Too many requests for the inbox. Try again later.',
            status: 429,
            headers: { 'Retry-After': String(seconds) },
          });
        return true;
      },
      handler: async ({ params, headers, body, signal }) => {
        const answer = await inbox.receive(String(params['token']), { headers, body });
        await wait(answer, signal);
        const status = answer === '410' || answer === '500' ? Number(answer) : answer === 'hang' ? 504 : 200;
        return new RestResponse({ status, body: { received: true, answer } });
      },
    };
  },
});

/** A token bucket per process. The returned function takes a token and returns 0, or returns the seconds to wait. */
export function createThrottle({
  clock,
  perSecond,
  burst,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly perSecond: number;
  readonly burst: number;
}): () => number {
  let left = burst;
  let at = clock.now();
  return () => {
    const now = clock.now();
    left = Math.min(burst, left + (Math.max(0, now - at) / 1000) * perSecond);
    at = now;
    if (left < 1) return Math.max(1, Math.ceil((1 - left) / perSecond));
    left -= 1;
    return 0;
  };
}
