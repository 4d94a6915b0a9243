import { RestError, RestResponse, type HostApi } from '#plugin-api';
import { defineRoute } from '../../kit/route.ts';
import type { InboxAnswer } from './answers.ts';
import { largestBody, type Inbox } from './inbox.ts';
import { createThrottle } from './throttle.ts';

const slowness = 3_000;
/** Longer than any sender waits by default, in milliseconds. */
const hanging = 30_000;
const mostHanging = 64;

/** `POST /inbox/{token}`: public, as a receiver is; its token is the only way in. Takes 100 requests a second and 256 KB each. */
export const inboxRoute = defineRoute<{ readonly host: Pick<HostApi, 'clock'>; readonly inbox: Inbox }>({
  path: '/inbox/(?P<token>[A-Za-z0-9_-]{8,64})',
  access: 'public',
  define: ({ host: { clock }, inbox }) => {
    const throttle = createThrottle({ clock, perSecond: 100, burst: 300 });
    let open = 0;

    async function wait(answer: InboxAnswer, signal: AbortSignal): Promise<void> {
      if (answer !== 'slow' && answer !== 'hang') return;
      if (open >= mostHanging)
        throw new RestError({
          code: 'rest_svc_inbox_busy',
          message: 'Too many requests are being kept waiting.',
          status: 503,
        });
      open += 1;
      try {
        await clock.sleep(answer === 'slow' ? slowness : hanging, signal);
      } catch {
        // The sender hung up, as it should.
      } finally {
        open -= 1;
      }
    }

    return {
      methods: ['POST'],
      showInIndex: false,
      bodyLimit: largestBody,
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
