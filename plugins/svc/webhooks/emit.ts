import { createHash, randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import type { EventDefinition } from '../kit/define-event.ts';
import type { Catalogue } from './catalogue.ts';
import type { WebhookTarget } from './endpoint.ts';
import { schemaVersion, type EmitResult, type Emit, type Envelope, type EventContext } from './event.ts';
import { createGroupCommit } from './group-commit.ts';
import type { Patience } from './patience.ts';
import { retryDelays } from './retry-delays.ts';
import type { SettingsStore, Snapshot } from './settings-store.ts';
import { leaseTime, type NewDelivery, type Store } from './store/store-contract.ts';
import { completeTarget, isSameTarget, toTarget } from './target.ts';

export interface EmitParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock' | 'site' | 'plugin' | 'database' | 'log'>;
  readonly catalogue: Catalogue;
  readonly settings: SettingsStore;
  readonly store: Store;
  readonly patiently: Patience;
  /** There is something to do for these endpoints. */
  readonly wake: (endpointIds: readonly string[]) => void;
  /** Sends these deliveries now, and answers how they ended. */
  readonly sendNow: (
    deliveryIds: readonly string[],
  ) => Promise<{ readonly delivered: number; readonly failed: number }>;
}

type Data = Readonly<Record<string, unknown>>;

interface Prepared {
  readonly envelope: Envelope;
  readonly targets: readonly WebhookTarget[];
  readonly queued: boolean;
  /** Milliseconds that the first attempt for each target waits (contract 6.8), in their order. */
  readonly waits: readonly number[];
  /** A filter that threw, and whether the envelope is not as the filters want it. */
  readonly broken: { readonly error: string; readonly unfiltered: boolean } | null;
}

interface Announcement {
  readonly data: Data;
  readonly context: EventContext;
  /** Deliveries that a filter failed before they were queued. */
  readonly failures: readonly { readonly uuid: string; readonly target: WebhookTarget; readonly error: string }[];
}

/** From an act to stored jobs (contract 6, D17 to D20). */
export function createEmit(parts: EmitParts): Emit {
  const { host, settings, store, patiently, wake, sendNow } = parts;
  const commit = createGroupCommit({ store, patiently, writers: host.database.dialect === 'sqlite' ? 1 : 2 });

  /** The result with what was to be sent at once, if it was waited for. */
  async function deliver(result: EmitResult, endpointIds: readonly string[], inside: boolean): Promise<EmitResult> {
    if (result.queued) {
      if (inside)
        host.database.afterCommit(() => {
          wake(endpointIds);
        });
      else wake(endpointIds);
      return result;
    }
    if (!inside) return sendOrQueue(parts, result, endpointIds);
    // Nobody may hear of an act that can still be undone.
    host.database.afterCommit(() => void sendNow(result.deliveries).catch(() => wake(endpointIds)));
    return result;
  }

  async function announce(result: EmitResult, { data, context, failures }: Announcement): Promise<void> {
    const { hooks } = host;
    for (const { uuid, target, error } of failures) {
      const failed = {
        delivery_id: uuid,
        endpoint_id: target.id,
        status: 'failed' as const,
        attempts: 0,
        http_status: null,
        duration_ms: 0,
        error,
      };
      if (result.envelope !== null)
        await hooks.doActionAsync('svc_event_webhooks_delivery_failed', failed, target, result.envelope);
    }
    const own = `svc_event_${result.event.replaceAll('.', '_')}`;
    if (hooks.hasAction(own) !== false) await hooks.doActionAsync(own, data, result.envelope, context);
    if (hooks.hasAction('svc_event_webhooks_emitted') !== false)
      await hooks.doActionAsync('svc_event_webhooks_emitted', result, context);
  }

  async function emit(name: string, data: Data, context: EventContext): Promise<EmitResult> {
    const event = parts.catalogue.find(name);
    const faults = parts.catalogue.faults(name, data);
    if (!event || faults.length > 0) throw new Error(`The event ${name} was not sent: ${faults.join(' ')}`);
    const inside = context.transaction !== undefined || host.database.inTransaction();
    const snapshot = await (inside ? settings.current() : patiently(() => settings.current()));
    const { envelope, targets, queued, waits, broken } = await prepare({ host, event, snapshot }, data, context);
    // Whoever adds it sends it at once: the queue leaves it alone for the time of a lease, and takes it when nobody did.
    const deliveries = targets.map((target, index) =>
      toDelivery(target, {
        snapshot,
        event,
        data,
        error: broken?.error ?? null,
        wait: queued ? (waits[index] ?? 0) : leaseTime,
      }),
    );
    const result: EmitResult = {
      event: name,
      envelope,
      targets: targets.map(({ id }) => id),
      deliveries: deliveries.map(({ uuid }) => uuid),
      queued: queued && !broken,
      delivered: 0,
      failed: broken ? deliveries.length : 0,
      error: null,
    };
    if (deliveries.length > 0) {
      const stored = {
        uuid: envelope.id,
        name,
        key: envelope.idempotency_key,
        body: Buffer.from(JSON.stringify(envelope)),
        unfiltered: broken?.unfiltered ?? false,
        context: broken?.unfiltered ? contextText(context) : null,
        deliveries,
      };
      if (inside)
        await store.add([stored], { durable: false, ...(context.transaction && { transaction: context.transaction }) });
      else await commit(stored);
    }
    const sent = broken || deliveries.length === 0 ? result : await deliver(result, result.targets, inside);
    const failures =
      broken === null
        ? []
        : targets.map((target, index) => ({ uuid: result.deliveries[index] ?? '', target, error: broken.error }));
    const announcing = (): Promise<void> => announce(sent, { data, context, failures });
    if (inside) host.database.afterCommit(() => void announcing());
    else await announcing();
    return sent;
  }

  return async (name, data, context = {}) => {
    try {
      return await emit(name, data, context);
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error);
      host.log.error('An event could not be emitted.', { event: name, error });
      return {
        event: name,
        envelope: null,
        targets: [],
        deliveries: [],
        queued: false,
        delivered: 0,
        failed: 0,
        error: sentence,
      };
    }
  };
}

/** They are stored: if they cannot be taken now, the queue sends them as soon as it can. */
async function sendOrQueue(
  { host, sendNow, wake }: EmitParts,
  result: EmitResult,
  endpointIds: readonly string[],
): Promise<EmitResult> {
  try {
    return { ...result, ...(await sendNow(result.deliveries)) };
  } catch (error) {
    host.log.warn('Webhook deliveries that were to be sent at once are left to the queue.', { error });
    wake(endpointIds);
    return { ...result, queued: true };
  }
}

interface PrepareParts {
  readonly host: EmitParts['host'];
  readonly event: EventDefinition;
  readonly snapshot: Snapshot;
}

/** What a filter that forgot to answer leaves behind must not pass for an event. */
function checkEnvelope(envelope: Envelope): Envelope {
  const { id, idempotency_key: key } = (envelope as Partial<Envelope> | null | undefined) ?? {};
  if (typeof id !== 'string' || typeof key !== 'string') throw new Error('it answered no envelope.');
  return envelope;
}

/** Envelope and targets, through the filters in their order (D24). */
async function prepare({ host, event, snapshot }: PrepareParts, data: Data, context: EventContext): Promise<Prepared> {
  const { hooks } = host;
  const { name } = event;
  const made = createEnvelope({ host, event, snapshot }, data, context);
  const subscribed: readonly WebhookTarget[] = snapshot.stored.enabled
    ? (snapshot.byEvent.get(name) ?? []).map(toTarget)
    : [];
  const byDefault = event.queued && !/^(admin|manual)_/.test(made.source.origin);
  let envelope = made;
  let targets = subscribed;
  let step = 'svc_event_webhooks_envelope';
  try {
    if (hooks.hasFilter(step) !== false)
      envelope = checkEnvelope(await hooks.applyFiltersAsync('svc_event_webhooks_envelope', made, name, data, context));
    step = 'svc_event_webhooks_targets';
    // The switch is for all of them, those that a filter adds included.
    if (snapshot.stored.enabled && hooks.hasFilter(step) !== false)
      targets = (await hooks.applyFiltersAsync('svc_event_webhooks_targets', subscribed, name, envelope, context)).map(
        completeTarget,
      );
    step = 'svc_event_delivery_queue_async_enabled';
    const queued =
      hooks.hasFilter(step) === false
        ? byDefault
        : Boolean(
            await hooks.applyFiltersAsync(
              'svc_event_delivery_queue_async_enabled',
              byDefault,
              name,
              envelope,
              context,
              targets,
            ),
          );
    const waits = await firstWaits(host, targets);
    // What has to wait is for the queue, not for the caller.
    return { envelope, targets, queued: queued || waits.some((wait) => wait > 0), waits, broken: null };
  } catch (error) {
    host.log.error('A filter of events failed; its deliveries are recorded as failed.', {
      filter: step,
      event: name,
      error,
    });
    const sentence = `The filter ${step} failed: ${error instanceof Error ? error.message : String(error)}`;
    return {
      envelope,
      targets,
      queued: byDefault,
      waits: [],
      broken: { error: sentence, unfiltered: step === 'svc_event_webhooks_envelope' },
    };
  }
}

/** A filter that throws is no reason to wait, nor to fail yet: it is asked again when there is something to try again. */
async function firstWaits(host: EmitParts['host'], targets: readonly WebhookTarget[]): Promise<readonly number[]> {
  if (host.hooks.hasFilter('svc_event_webhooks_retry_delays') === false) return [];
  return Promise.all(
    targets.map((target) =>
      retryDelays(host, target).then(
        ([first = 0]) => Math.round(first * 1000),
        (error: unknown) => {
          host.log.warn('The filter of delays failed; a first attempt does not wait.', { error });
          return 0;
        },
      ),
    ),
  );
}

function createEnvelope({ host, event, snapshot }: PrepareParts, data: Data, context: EventContext): Envelope {
  const id = randomUUID();
  const { slug, version } = host.plugin;
  const told = event.describe?.(data as never) ?? null;
  const given = context.resource;
  const resourceId = given?.id ?? told?.id;
  return {
    id,
    type: event.name,
    schema_version: schemaVersion,
    occurred_at: new Date(host.clock.now()).toISOString().replace(/\.\d+Z$/, '+00:00'),
    idempotency_key: keyOf(event, data, { context, id }),
    site: { url: host.site.url, name: snapshot.siteName },
    plugin: { slug, version },
    source: { module: context.module ?? event.module, origin: context.origin ?? event.origins[0] ?? event.module },
    ...(resourceId !== undefined && {
      resource: {
        type: given?.type ?? told?.type ?? event.resource,
        id: String(resourceId),
        label: given?.label ?? told?.label ?? '',
      },
    }),
    data,
    ...(context.meta && { meta: context.meta }),
  };
}

/** D19. An act whose ids are not all known is like no other: its event's own id takes part. */
function keyOf(
  event: EventDefinition,
  data: Data,
  { context, id }: { readonly context: EventContext; readonly id: string },
): string {
  const known = event.naturalIds(data as never);
  const given = context.key ?? [];
  const isWhole = known.length + given.length > 0 && known.every((part) => part !== null && part !== undefined);
  // Two lists, so that the ids of an act and a key given besides never read like the ids of another.
  const ids = [known.map((part) => String(part ?? '')), given.map(String), ...(isWhole ? [] : [id])];
  return createHash('sha256')
    .update(JSON.stringify([event.name, ...ids]))
    .digest('hex');
}

interface DeliveryParts {
  readonly snapshot: Snapshot;
  readonly event: EventDefinition;
  readonly data: Data;
  readonly error: string | null;
  /** Milliseconds. */
  readonly wait: number;
}

/** What the filter of envelopes is handed again when it is tried again; a transaction is over by then. */
function contextText({ transaction, ...context }: EventContext): string {
  void transaction;
  return JSON.stringify(context);
}

function toDelivery(target: WebhookTarget, { snapshot, event, data, error, wait }: DeliveryParts): NewDelivery {
  const endpoint = snapshot.byId.get(target.id);
  const isAsSaved = endpoint !== undefined && isSameTarget(endpoint, target);
  return {
    uuid: randomUUID(),
    endpointId: target.id,
    orderKey: target.ordered ? (event.orderBy?.(data as never) ?? null) : null,
    target: isAsSaved ? null : JSON.stringify({ ...target, added: endpoint === undefined }),
    failed: error === null ? null : { failure: 'filter', error },
    wait,
  };
}
