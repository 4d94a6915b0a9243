import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { createOutbound, type Outbound } from '../../host/http/outbound.ts';
import type { WebhookService } from '../../plugins/svc/webhooks/create-webhooks.ts';
import { createDeliver } from '../../plugins/svc/webhooks/delivery/deliver.ts';
import type { Delivery } from '../../plugins/svc/webhooks/delivery.ts';
import type { Undo } from '#plugin-api';
import { watchResponses, type ResponseWatch } from '../helpers/watch-responses.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openWebhooks, queued } from '../svc/webhooks/open-webhooks.ts';
import { startReceiver, type Receiver } from '../svc/webhooks/receiver.ts';
import { until } from '../helpers/until.ts';
import { startBadReceiver, type BadReceiver, type Manner } from './webhook-receivers.ts';

const event = 'chatbot.session_started';
/** Seconds; the contract's five are shown elsewhere. Those that would never answer are given up soon; of an answer without end, time is up when its head has been read; the others end by themselves, however long a busy machine takes. */
const limits: Partial<Record<Manner, number>> = { hangs: 0.5, 'drips its head': 0.5, 'drips its body': 90 };
const never = 600;

/** How each ends. What is cut off behind its status line has been delivered (D22). */
const ends: Readonly<
  Record<Manner, { readonly state: Delivery['state']; readonly failure: string | null; readonly attempts: number }>
> = {
  hangs: { state: 'failed', failure: 'timeout', attempts: 3 },
  'resets at once': { state: 'failed', failure: 'reset', attempts: 3 },
  'resets in the head': { state: 'failed', failure: 'reset', attempts: 3 },
  'resets in the body': { state: 'delivered', failure: null, attempts: 1 },
  'drips its head': { state: 'failed', failure: 'timeout', attempts: 3 },
  'drips its body': { state: 'delivered', failure: null, attempts: 1 },
  'is half open': { state: 'failed', failure: 'reset', attempts: 3 },
  'talks nonsense': { state: 'failed', failure: 'answer', attempts: 3 },
  refuses: { state: 'failed', failure: 'connect', attempts: 3 },
};
const manners = Object.keys(ends) as Manner[];

describeDialects('webhooks to receivers that behave badly', (open) =>
  describe('of every kind', () => {
    let good: Receiver;
    let bad: Map<Manner, BadReceiver>;
    let http: Outbound;
    let webhooks: WebhookService;
    let endless: ResponseWatch;
    let hanging: BadReceiver;
    const idOf = new Map<Manner, string>();

    beforeEach(async () => {
      good = await startReceiver();
      bad = new Map(
        await Promise.all(manners.map(async (manner) => [manner, await startBadReceiver(manner)] as const)),
      );
      hanging = await startBadReceiver('hangs');
      const clock = createSystemClock();
      endless = watchResponses(new URL(bad.get('drips its body')!.url).origin, 'head');
      const after = (milliseconds: number, callback: () => void): Undo =>
        milliseconds === limits['drips its body']! * 1000
          ? (endless.wait(callback), () => undefined)
          : clock.after(milliseconds, callback);
      http = createOutbound({ clock: { after } });
      const opened = await openWebhooks(await open(), createDeliver({ http, clock }));
      ({ webhooks } = opened);
      opened.hooks.addFilter('svc_event_webhooks_request_args', (args) =>
        args.headers['X-Seconds'] === undefined ? args : { ...args, timeout: Number(args.headers['X-Seconds']) },
      );
      await webhooks.setEnabled(true);
      await webhooks.addEndpoint({ name: 'Good', url: good.url, events: [event] });
      for (const [manner, { url }] of bad)
        idOf.set(
          manner,
          (
            await webhooks.addEndpoint({
              name: manner,
              url,
              events: [event],
              headers: { 'X-Seconds': String(limits[manner] ?? never) },
            })
          ).id,
        );
    });
    afterEach(async () => {
      // No more attempts; those that hang end with their connections.
      const stopped = webhooks.stop();
      await http.close();
      await stopped;
      endless.stop();
      for (const receiver of [hanging, ...bad.values()]) await receiver.stop();
      await good.stop();
    });

    it('go on to the others meanwhile, and each says how it ended', async function () {
      this.timeout(60_000);
      const number = 5;
      // Is not given up while this test runs: whoever waited for it would wait for ever.
      const { id: neverId } = await webhooks.addEndpoint({
        name: 'Never',
        url: hanging.url,
        events: [event],
        headers: { 'X-Seconds': String(never) },
      });
      for (let index = 0; index < number; index += 1) await webhooks.emit(event, queued(index));
      await webhooks.start();
      await good.count(number);
      await until('four attempts hang', () => hanging.connections() === 4);
      await until('every kind has come to an end', async () => {
        for (const id of idOf.values())
          if (
            (await webhooks.deliveryLog.list({ endpointId: id }, { limit: 200 })).deliveries.every(
              ({ finishedAt }) => finishedAt === null,
            )
          )
            return false;
        return true;
      });
      for (const manner of manners) {
        const { deliveries } = await webhooks.deliveryLog.list({ endpointId: idOf.get(manner)! }, { limit: 200 });
        const finished = deliveries.filter(({ finishedAt }) => finishedAt !== null);
        for (const { state, failure, attempts, error } of finished) {
          expect({ state, failure, attempts }, manner).to.deep.equal(ends[manner]);
          expect(error === null, `${manner}: ${String(error)}`).to.equal(state === 'delivered');
        }
      }
      expect(
        (await webhooks.deliveryLog.list({ endpointId: neverId })).deliveries.map(({ attempts }) => attempts),
      ).to.deep.equal(Array.from({ length: number }, () => 0));
      expect(good.received).to.have.length(number);
    });
  }),
);
