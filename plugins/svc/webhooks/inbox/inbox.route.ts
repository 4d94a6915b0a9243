import { RestError, RestResponse, type HostApi, type Clock } from '#plugin-api';
import { defineRoute } from '../../kit/route.ts';
import { type InboxResponse, maxBodyBytes, type Inbox } from './inbox.ts';

const slowDelay = 3_000;
/** Longer than any sender waits by default, in milliseconds. */
const hangDelay = 30_000;
const maxWaiting = 64;

/** `POST /inbox/{token}`: public, as a receiver is; its token is the only way in. Takes 100 requests a second and 256 KB each. */
export const inboxRoute = defineRoute<{ readonly host: Pick<HostApi, 'clock'>; readonly inbox: Inbox }>({
  path: '/inbox/(?P<token>[A-Za-z0-9_-]{8,64})',
  access: 'public',
  define: ({ host: { clock }, inbox }) => {
    const throttle = createThrottle({ clock, perSecond: 100, burst: 300 });
    let open = 0;

    async function wait(answer: InboxResponse, signal: AbortSignal): Promise<void> {
      if (answer !== 'slow' && answer !== 'hang') return;
      if (open >= maxWaiting)
        throw new RestError({
          code: 'rest_svc_inbox_busy',
          message: 'Too many requests are being kept waiting.',
          status: 503,
        });
      open += 1;
      try {
        await clock.sleep(answer === 'slow' ? slowDelay : hangDelay, signal);
      } catch {
        // The sender hung up, as it should.
      } finally {
        open -= 1;
      }
    }

    return {
      methods: ['POST'],
      showInIndex: false,
      bodyLimit: maxBodyBytes,
      summary: 'The built-in receiver of event webhooks, for first tries.',
      // Before anything is written: who knows the address must not fill the disk or the log.
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

/** A bucket of turns that fills again with time, of this process. Answers 0 for a turn, or the seconds to wait. */
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
