import { createSystemClock } from '../../host/clock.ts';
import { createTestHost, type TestHost } from '#testing';
import type { Clock, HostApi } from '#plugin-api';
import { serviceEvents } from '../../plugins/svc/events.ts';
import type { EventDefinition } from '../../plugins/svc/kit/define-event.ts';
import { createWebhooks, type WebhookService } from '../../plugins/svc/webhooks/create-webhooks.ts';
import { createDeliver } from '../../plugins/svc/webhooks/delivery/deliver.ts';
import type { Endpoint, EndpointInput, WebhookTarget } from '../../plugins/svc/webhooks/endpoint.ts';
import type { EmitResult, Envelope, EventContext } from '../../plugins/svc/webhooks/event.ts';
import type { DeliveryResult } from '../../plugins/svc/webhooks/hooks.ts';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import { createOutbound } from '../../host/http/outbound.ts';
import { describeSharedHosts, type DialectCase } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { until } from '../helpers/until.ts';

export interface Ended {
  readonly result: DeliveryResult;
  readonly target: WebhookTarget;
  readonly envelope: Envelope;
}

type Data = Readonly<Record<string, unknown>>;

/** The whole site with the service, which works its queue; and an operator beside it, as a command line is. */
export interface WebhookSite {
  readonly host: TestHost;
  /** Works on the same database from outside of the site's plugin: settings and the record. Sends nothing by itself. */
  readonly operator: WebhookService;
  /** Sends an event as any plugin does; answers what the action `svc_event_webhooks_emitted` told. */
  emit(event: string, data?: Data, context?: EventContext): Promise<EmitResult>;
  subscribe(receiver: Pick<WebhookReceiver, 'url'>, init?: EndpointInput): Promise<Endpoint>;
  receiver(): Promise<WebhookReceiver>;
  /** Deliveries that have ended, in their order. */
  readonly ended: readonly Ended[];
  /** Resolves when so many have. */
  endings(count: number): Promise<readonly Ended[]>;
  /** Asks the database until it is so. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  /** Makes everything that waits due, and tells the site. */
  makeDue(endpointIds?: readonly string[]): Promise<void>;
  /** Stops the receivers and forgets the deliveries. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export const names: readonly string[] = serviceEvents.map(({ name }) => name);

export function eventOf(name: string): EventDefinition {
  const event = serviceEvents.find((one) => one.name === name);
  if (!event) throw new Error(`There is no event ${name}.`);
  return event;
}

/** Data of a chatbot event, which waits in the queue, and of an automation's, which is sent at once. */
export const started = (id: string): Data => ({
  bot: { id: 1, name: 'Bot' },
  conversation: { id },
  actor: { type: 'guest' },
});
export const completed = (id: string | number): Data => ({ task: { id: 1 }, queue_item: { id, status: 'completed' } });

export async function startWebhookSite(
  { location }: Pick<DialectCase, 'location'>,
  {
    clock = createSystemClock(),
    env = {},
  }: { readonly clock?: Clock; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<WebhookSite> {
  const { databaseUrl, dataDir } = location();
  const host = await createTestHost({ plugins: ['svc'], clock, database: databaseUrl ?? dataDir, env });
  const outbound = createOutbound({ clock });
  const operator = createWebhooks({
    host: { ...host, jobs: host.jobs.forOwner('svc'), plugin: { slug: 'svc', version: '1.0.0' } } as unknown as HostApi,
    events: serviceEvents,
    deliver: createDeliver({ http: outbound, clock }),
  });
  const receivers: WebhookReceiver[] = [];
  const ended: Ended[] = [];
  const waiting = new Set<() => void>();
  /** Events by id, and whether an earlier test sent them: its deliveries may end while the next test runs. */
  const isFormer = new Map<string, boolean>();
  const note = (result: DeliveryResult, target: WebhookTarget, envelope: Envelope): void => {
    if (isFormer.get(envelope.id)) return;
    ended.push({ result, target, envelope });
    for (const look of waiting) look();
  };
  host.hooks.addAction('svc_event_webhooks_emitted', ({ envelope }) => {
    if (envelope) isFormer.set(envelope.id, false);
  });
  host.hooks.addAction('svc_event_webhooks_delivery_completed', note, 1);
  host.hooks.addAction('svc_event_webhooks_delivery_failed', note, 1);
  await operator.setEnabled(true);
  return {
    host,
    operator,
    ended,
    async emit(event, data = eventOf(event).example, context = {}) {
      let told: EmitResult | undefined;
      const undo = host.hooks.addAction(
        'svc_event_webhooks_emitted',
        (result, given) => {
          if (given === context) told = result;
        },
        0,
      );
      await host.hooks.doActionAsync('svc_event_emit', event, data, context);
      undo();
      if (!told)
        throw new Error(
          `${event} was not emitted: ${host.logged.findLast((line) => line.includes('could not be emitted')) ?? 'no reason in the log'}`,
        );
      return told;
    },
    subscribe: (receiver, init = {}) =>
      operator.addEndpoint({ name: 'Shop', url: receiver.url, events: names, ...init }),
    async receiver() {
      const receiver = await startWebhookReceiver();
      receivers.push(receiver);
      return receiver;
    },
    endings: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (ended.length < count) return;
          waiting.delete(look);
          resolve(ended);
        };
        waiting.add(look);
        look();
      }),
    until: (holds) => until('a condition of the site', holds),
    async makeDue(endpointIds) {
      await host.database
        .knex(tables.deliveries)
        .where('due_at', '>', 0)
        .where({ state: 'pending' })
        .update({ due_at: 1 });
      for (const id of endpointIds ?? (await operator.settings()).endpoints.map((endpoint) => endpoint.id))
        await operator.deliveryLog.resume(id);
    },
    async reset() {
      await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
      ended.length = 0;
      for (const id of isFormer.keys()) isFormer.set(id, true);
      waiting.clear();
    },
    async stop() {
      await host.stop();
      await outbound.close();
      await Promise.all(receivers.map((receiver) => receiver.stop()));
    },
  };
}

/** Runs a suite against a site, which is restored after each test, on both databases. */
export function describeSites(
  title: string,
  define: (site: () => WebhookSite, dialectCase: DialectCase) => void,
): void {
  describeSharedHosts(title, (dialectCase) => {
    const site = shareSite(
      () => startWebhookSite(dialectCase),
      (opened) => opened.stop(),
    );
    afterEach(() => site().reset());
    define(site, dialectCase);
  });
}
