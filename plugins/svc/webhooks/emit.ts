import { createHash, randomUUID } from 'node:crypto';
import { errorText, type HostApi } from '#plugin-api';
import type { EventDefinition } from '../kit/define-event.ts';
import type { Catalogue } from './catalogue.ts';
import type { WebhookTarget } from './endpoint.ts';
import { schemaVersion, testOrigin, type EmitResult, type Emit, type Envelope, type EventContext } from './event.ts';
import { createGroupCommit } from './group-commit.ts';
import { bodyStates } from './migrations.ts';
import { matchesFilter } from './content-filter.ts';
import { retryDelays } from './retry-delays.ts';
import type { SettingsStore, Snapshot } from './settings-store.ts';
import { leaseDuration, type NewDelivery, type NewEvent, type Store } from './store/store-contract.ts';
import type { Worker } from './worker/worker-contract.ts';
import { completeTarget, isSameTarget, toTarget } from './target.ts';

export interface EmitParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock' | 'site' | 'plugin' | 'database' | 'log'>;
  readonly catalogue: Catalogue;
  readonly settings: SettingsStore;
  readonly store: Store;
  /** Waits at most a minute for the database. `again`: the work ran before, and may have been committed. */
  readonly retryWhileUnavailable: <Result>(work: (again: boolean) => Promise<Result>) => Promise<Result>;
  /** Notifies workers of new jobs for these endpoints. */
  readonly wake: (endpointIds: readonly string[]) => void;
  /** Sends these deliveries now and returns how they ended. */
  readonly sendNow: Worker['sendNow'];
}

type Data = Readonly<Record<string, unknown>>;

interface Prepared {
  readonly envelope: Envelope;
  readonly targets: readonly WebhookTarget[];
  readonly queued: boolean;
  /** Milliseconds before the first attempt for each target (contract 6.8), in the order of the targets. */
  readonly waits: readonly number[];
  /** Set if a filter threw. `needsEnvelopeFilter`: it was the envelope filter, which has to run again. */
  readonly filterError: { readonly error: string; readonly needsEnvelopeFilter: boolean } | null;
}

interface Announcement {
  readonly data: Data;
  readonly context: EventContext;
  /** Deliveries that failed in a filter before they were queued. */
  readonly failures: readonly { readonly uuid: string; readonly target: WebhookTarget; readonly error: string }[];
}

/** Turns an event into stored deliveries (contract 6, D17 to D20). */
export function createEmit(parts: EmitParts): Emit {
  const { host, settings, store, retryWhileUnavailable, wake, sendNow } = parts;
  const commit = createGroupCommit({
    store,
    retryWhileUnavailable,
    isUnavailable: (error) => host.database.isUnavailable(error),
    writers: host.database.dialect === 'sqlite' ? 1 : 2,
  });

  /** Queues or sends the deliveries. Outside a transaction, the result includes what was sent at once. */
  async function deliver(
    result: EmitResult,
    endpointIds: readonly string[],
    inTransaction: boolean,
  ): Promise<EmitResult> {
    if (result.queued) {
      if (inTransaction)
        host.database.afterCommit(() => {
          wake(endpointIds);
        });
      else wake(endpointIds);
      return result;
    }
    if (!inTransaction) return sendOrQueue(parts, result, endpointIds);
    // Send only after the commit, so that a rollback leaks no event.
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

  async function emit({ name, emitter }: Emission, data: Data, context: EventContext): Promise<EmitResult> {
    const event = parts.catalogue.find(name);
    const errors = parts.catalogue.findErrors(name, data);
    if (!event || errors.length > 0) throw new Error(`The event ${name} was not sent: ${errors.join(' ')}`);
    const inTransaction = context.transaction !== undefined || host.database.inTransaction();
    const snapshot = await (inTransaction ? settings.current() : retryWhileUnavailable(() => settings.current()));
    const { envelope, targets, queued, waits, filterError } = await prepare({ host, event, snapshot }, data, context);
    // Sent at once by this process. The queue waits for the length of a lease, then takes over if this process died.
    const deliveries = targets.map((target, index) =>
      toDelivery(target, {
        snapshot,
        event,
        data,
        error: filterError?.error ?? null,
        wait: queued ? (waits[index] ?? 0) : leaseDuration,
        now: host.clock.now(),
      }),
    );
    const result: EmitResult = {
      event: name,
      emitter,
      envelope,
      targets: targets.map(({ id }) => id),
      deliveries: deliveries.map(({ uuid }) => uuid),
      queued: queued && !filterError,
      delivered: 0,
      failed: filterError ? deliveries.length : 0,
      error: null,
    };
    if (deliveries.length > 0) {
      const stored = {
        uuid: envelope.id,
        name,
        key: envelope.idempotency_key,
        body: Buffer.from(JSON.stringify(envelope)),
        needsEnvelopeFilter: filterError?.needsEnvelopeFilter ?? false,
        context: filterError?.needsEnvelopeFilter ? serializeContext(context) : null,
        ...personColumns(data, context),
        bodyState: context.keep === false ? bodyStates.temporary : bodyStates.stored,
        deliveries,
      };
      if (inTransaction)
        await store.add([stored], { durable: false, ...(context.transaction && { transaction: context.transaction }) });
      else await commit(stored);
    }
    const sent = filterError || deliveries.length === 0 ? result : await deliver(result, result.targets, inTransaction);
    const failures =
      filterError === null
        ? []
        : targets.map((target, index) => ({ uuid: result.deliveries[index] ?? '', target, error: filterError.error }));
    const runActions = (): Promise<void> => announce(sent, { data, context, failures });
    if (inTransaction) host.database.afterCommit(() => void runActions());
    else await runActions();
    return sent;
  }

  return async (name, data, context = {}) => {
    const emitter = findEmitter(host);
    try {
      return await emit({ name, emitter }, data, context);
    } catch (error) {
      host.log.error('Failed to emit an event', {
        event: 'webhook_emit_failed',
        name,
        emitter,
        plugin: emitter,
        error,
      });
      return announceRefusal(host, { ...refused, event: name, emitter, error: errorText(error) }, context);
    }
  };
}

interface Emission {
  readonly name: string;
  /** Slug of the plugin. */
  readonly emitter: string;
}

/** Other plugins emit by the action alone. */
function findEmitter({ hooks, plugin }: EmitParts['host']): string {
  return (hooks.currentHook() === 'svc_event_emit' && hooks.currentCaller()) || plugin.slug;
}

const refused: Omit<EmitResult, 'event' | 'emitter' | 'error'> = {
  envelope: null,
  targets: [],
  deliveries: [],
  queued: false,
  delivered: 0,
  failed: 0,
};

/** A transaction that is rolled back announces nothing, as for an event that was stored. */
async function announceRefusal(
  { hooks, database }: EmitParts['host'],
  result: EmitResult,
  context: EventContext,
): Promise<EmitResult> {
  const announce = (): Promise<void> => hooks.doActionAsync('svc_event_webhooks_emitted', result, context);
  if (database.inTransaction()) database.afterCommit(() => void announce());
  else await announce();
  return result;
}

/** Sends stored deliveries now, or leaves them to the queue if they cannot be claimed. */
async function sendOrQueue(
  { host, sendNow, wake }: EmitParts,
  result: EmitResult,
  endpointIds: readonly string[],
): Promise<EmitResult> {
  try {
    const evenPaused = result.envelope?.source.origin === testOrigin;
    return { ...result, ...(await sendNow(result.deliveries, { evenPaused })) };
  } catch (error) {
    host.log.warn('Failed to send webhook deliveries at once; the queue sends them', {
      event: 'webhook_send_now_failed',
      error,
    });
    wake(endpointIds);
    return { ...result, queued: true };
  }
}

interface PrepareParts {
  readonly host: EmitParts['host'];
  readonly event: EventDefinition;
  readonly snapshot: Snapshot;
}

/** Refuses the result of a filter that returned no envelope. */
function checkEnvelope(envelope: Envelope): Envelope {
  const { id, idempotency_key: key } = (envelope as Partial<Envelope> | null | undefined) ?? {};
  if (typeof id !== 'string' || typeof key !== 'string') throw new Error('it returned no envelope.');
  return envelope;
}

/** Runs the filters for envelope, targets and queueing in their order (D24). */
async function prepare({ host, event, snapshot }: PrepareParts, data: Data, context: EventContext): Promise<Prepared> {
  const { hooks } = host;
  const { name } = event;
  const created = createEnvelope({ host, event, snapshot }, data, context);
  const subscribed = (sent: Envelope): readonly WebhookTarget[] =>
    snapshot.stored.enabled
      ? (snapshot.byEvent.get(name) ?? [])
          .filter(({ filter }) => created.source.origin === testOrigin || matchesFilter(filter, sent))
          .map(toTarget)
      : [];
  const queuedByDefault = event.queued && !/^(admin|manual)_/.test(created.source.origin);
  let envelope = created;
  let targets = subscribed(created);
  let filter = 'svc_event_webhooks_envelope';
  try {
    if (hooks.hasFilter(filter) !== false) {
      envelope = checkEnvelope(
        await hooks.applyFiltersAsync('svc_event_webhooks_envelope', created, name, data, context),
      );
      targets = subscribed(envelope);
    }
    filter = 'svc_event_webhooks_targets';
    // The global switch also covers targets that a filter adds.
    if (snapshot.stored.enabled && hooks.hasFilter(filter) !== false)
      targets = (await hooks.applyFiltersAsync('svc_event_webhooks_targets', targets, name, envelope, context)).map(
        completeTarget,
      );
    filter = 'svc_event_delivery_queue_async_enabled';
    const queued =
      hooks.hasFilter(filter) === false
        ? queuedByDefault
        : Boolean(
            await hooks.applyFiltersAsync(
              'svc_event_delivery_queue_async_enabled',
              queuedByDefault,
              name,
              envelope,
              context,
              targets,
            ),
          );
    const waits = await firstDelays(host, targets);
    // A delayed first attempt is left to the queue, so that the caller does not wait.
    return { envelope, targets, queued: queued || waits.some((wait) => wait > 0), waits, filterError: null };
  } catch (error) {
    host.log.error('Event filter failed; its deliveries are recorded as failed', {
      event: 'webhook_event_filter_failed',
      filter,
      name,
      error,
    });
    const message = `The filter ${filter} failed: ${errorText(error)}`;
    return {
      envelope,
      targets,
      queued: queuedByDefault,
      waits: [],
      filterError: { error: message, needsEnvelopeFilter: filter === 'svc_event_webhooks_envelope' },
    };
  }
}

/** A filter of delays that throws neither delays nor fails the first attempt; it runs again before a retry. */
async function firstDelays(host: EmitParts['host'], targets: readonly WebhookTarget[]): Promise<readonly number[]> {
  if (host.hooks.hasFilter('svc_event_webhooks_retry_delays') === false) return [];
  return Promise.all(
    targets.map((target) =>
      retryDelays(host, target).then(
        ([first = 0]) => Math.round(first * 1000),
        (error: unknown) => {
          host.log.warn('Retry delay filter failed; the first attempt is not delayed', {
            event: 'webhook_delay_filter_failed',
            error,
          });
          return 0;
        },
      ),
    ),
  );
}

function createEnvelope({ host, event, snapshot }: PrepareParts, data: Data, context: EventContext): Envelope {
  const id = randomUUID();
  const { slug, version } = event.plugin ?? host.plugin;
  const described = event.describe?.(data as never) ?? null;
  const given = context.resource;
  const resourceId = given?.id ?? described?.id;
  return {
    id,
    type: event.name,
    schema_version: schemaVersion,
    occurred_at: new Date(host.clock.now()).toISOString().replace(/\.\d+Z$/, '+00:00'),
    idempotency_key: createIdempotencyKey(event, data, { context, id, siteId: snapshot.siteId }),
    site: { url: host.site.url, name: snapshot.siteName },
    plugin: { slug, version },
    source: { module: context.module ?? event.module, origin: context.origin ?? event.origins[0] ?? event.module },
    ...(resourceId !== undefined && {
      resource: {
        type: given?.type ?? described?.type ?? event.resource,
        id: String(resourceId),
        label: given?.label ?? described?.label ?? '',
      },
    }),
    data,
    ...(context.meta && { meta: context.meta }),
  };
}

/** D19. Two sites never share a key. If natural ids are missing, the key includes the event id and is unique to this event. */
function createIdempotencyKey(
  event: EventDefinition,
  data: Data,
  { context, id, siteId }: { readonly context: EventContext; readonly id: string; readonly siteId: string },
): string {
  const natural = event.naturalIds(data as never);
  const given = context.key ?? [];
  const isComplete = natural.length + given.length > 0 && natural.every((part) => part !== null && part !== undefined);
  // Two lists, so that natural ids and a given key cannot be confused.
  const ids = [natural.map((part) => String(part ?? '')), given.map(String), ...(isComplete ? [] : [id])];
  return createHash('sha256')
    .update(JSON.stringify([siteId, event.name, ...ids]))
    .digest('hex');
}

/** User 0 is no person. */
function personColumns(data: Data, { person }: EventContext): Pick<NewEvent, 'userId' | 'sessionId'> {
  const actor = data['actor'] as { readonly user_id?: unknown } | undefined;
  const userId = person?.userId ?? actor?.user_id;
  return {
    userId: typeof userId === 'number' && Number.isSafeInteger(userId) && userId > 0 ? userId : null,
    sessionId: person?.sessionId ?? null,
  };
}

interface DeliveryParts {
  readonly snapshot: Snapshot;
  readonly event: EventDefinition;
  readonly data: Data;
  readonly error: string | null;
  /** Milliseconds. */
  readonly wait: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Emit context for a later run of the envelope filter, without the transaction, which has ended by then. */
function serializeContext({ transaction, ...context }: EventContext): string {
  void transaction;
  return JSON.stringify(context);
}

/**
 * A UUID of version 7, which begins with the time: consecutive ones are next to each other in their index, which changes with
 * each result on PostgreSQL.
 */
function createDeliveryId(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

function toDelivery(target: WebhookTarget, { snapshot, event, data, error, wait, now }: DeliveryParts): NewDelivery {
  const endpoint = snapshot.byId.get(target.id);
  const isUnchanged = endpoint !== undefined && isSameTarget(endpoint, target);
  return {
    uuid: createDeliveryId(now),
    endpointId: target.id,
    orderKey: target.ordered ? (event.orderBy?.(data as never) ?? null) : null,
    target: isUnchanged ? null : JSON.stringify({ ...target, added: endpoint === undefined }),
    failed: error === null ? null : { failure: 'filter', error },
    wait,
  };
}
