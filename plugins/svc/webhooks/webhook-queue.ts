import { retryWhileUnavailable, type HostApi } from '#plugin-api';
import { randomUUID } from 'node:crypto';
import { createAttempt } from './attempt.ts';
import type { Catalogue } from './catalogue.ts';
import type { WebhooksParts, WebhookService } from './create-webhooks.ts';
import { createDeliveryActions } from './delivery-actions.ts';
import { createDeliveryLog } from './delivery-log.ts';
import { type EmitParts, createEmit } from './emit.ts';
import { erasePerson } from './erase-person.ts';
import { createHeldEndpoints } from './held-endpoints.ts';
import { readMetrics } from './metrics.ts';
import { replayJob } from './migrations.ts';
import { createQueueGate } from './queue-gate.ts';
import { createReplays } from './replay.ts';
import { deleteTemporaryBodies, sweep } from './retention.ts';
import type { SettingsStore } from './settings-store.ts';
import { createPostgresqlStore } from './store/postgresql-store.ts';
import { createSqliteStore } from './store/sqlite-store.ts';
import { createNodeWaker, wakeChannel } from './wake-nodes.ts';
import type { DeliveryLog, WebhookAdministration } from './webhooks.ts';
import { createCircuits } from './worker/circuits.ts';
import { createWorker } from './worker/worker.ts';
import type { Worker } from './worker/worker-contract.ts';

/** Milliseconds that an event waits for the database. */
const longestWait = 60_000;

export interface WebhookQueueParts extends Pick<WebhooksParts, 'host' | 'deliver'> {
  readonly settings: SettingsStore;
  readonly catalogue: Catalogue;
  readonly elapsed: () => number;
}

/** The part of the webhooks that sends: events, their deliveries and the worker of this process. */
export type WebhookQueue = Omit<WebhookService, keyof WebhookAdministration | 'catalogue' | 'hasStarted'>;

export function createWebhookQueue({ host, settings, catalogue, deliver, elapsed }: WebhookQueueParts): WebhookQueue {
  const { database, jobs, log } = host;
  const owner = randomUUID();
  const store = (database.dialect === 'sqlite' ? createSqliteStore : createPostgresqlStore)(database, owner);
  const circuits = createCircuits({ host, elapsed, onClosed: (id) => nodes.wakeAllNodes([id]) });
  const worker = createWorker({
    host,
    store,
    circuits,
    elapsed,
    mayClaim: createQueueGate(host, settings),
    holdReason: createHeldEndpoints(host, settings).check,
    isUnavailable: (error) => database.isUnavailable(error),
    attempt: createAttempt({ host, settings, store, deliver }),
    onSettled: createDeliveryActions(host, settings),
    onReleased: (ids) => nodes.notifyOthers(ids),
  });
  const nodes = createNodeWaker({ host, owner, worker, elapsed });
  const { run: runReplay, ...deliveryLogReplays } = createReplays({ host, wake: () => nodes.wake() });
  let [emitted, unlisten]: [number, (() => void) | null] = [0, null];
  const send = createEmit({
    host,
    catalogue,
    settings,
    store,
    retryWhileUnavailable: createRetry(host, elapsed),
    wake: nodes.wake,
    sendNow: worker.sendNow,
  });

  /** Applies stored pauses to the queues of this node, and wakes those that were resumed. */
  async function loadCircuits(): Promise<void> {
    const paused = new Set(await circuits.load());
    const resumed = [...worker.queues.values()].filter((queue) => queue.paused && !paused.has(queue.id));
    for (const queue of worker.queues.values()) queue.paused = paused.has(queue.id);
    worker.wake([...paused, ...resumed.map(({ id }) => id)]);
  }

  /** A notification about an endpoint that is paused here may mean that another node resumed it. */
  function onNotification(payload: string): void {
    if (isAboutPaused(worker, nodes.receive(payload))) loadCircuits().catch(reportUnreadCircuits(log));
  }

  async function resume(endpointId: string): Promise<boolean> {
    const resumed = await circuits.resume(endpointId);
    const queue = worker.queues.get(endpointId);
    if (queue) queue.paused = false;
    nodes.wakeAllNodes([endpointId]);
    return resumed;
  }

  function createLog(): DeliveryLog {
    return {
      ...createDeliveryLog({ host, settings, store, catalogue, circuits, wake: nodes.wake }),
      ...deliveryLogReplays,
      circuits: circuits.list,
      resume,
      metrics: () => readMetrics(host, { worker, settings, emitted }),
    };
  }

  return {
    runReplay,
    emit: (name, data, context) => {
      emitted += 1;
      return send(name, data, context);
    },
    deliveryLog: createLog(),
    async work() {
      await jobs.drain(replayJob);
      return worker.drain();
    },
    async start() {
      unlisten = await database.listen(wakeChannel, onNotification, () => worker.wake());
      nodes.setActive(true);
      worker.start();
      await loadCircuits();
    },
    async stop() {
      unlisten?.();
      nodes.setActive(false);
      await worker.stop();
    },
    async fallback() {
      await Promise.all([loadCircuits(), deleteTemporaryBodies(host)]);
      await worker.drain();
    },
    sweep: async () => sweep(host, (await settings.current()).stored.deliveredDays),
    erasePerson: (person) => erasePerson({ host, store, settings }, person),
  };
}

/** Whether a notification is about an endpoint that is paused on this node. @param ids of endpoints; empty: all; null: none */
function isAboutPaused({ queues }: Worker, ids: readonly string[] | null): boolean {
  return [...queues.values()].some(
    ({ paused, id }) => paused && ids !== null && (ids.length === 0 || ids.includes(id)),
  );
}

function reportUnreadCircuits(log: HostApi['log']): (error: unknown) => void {
  return (error) =>
    log.warn('Failed to read paused webhook endpoints; the next probe reads them', {
      event: 'webhook_circuit_read_failed',
      error,
    });
}

function createRetry(
  host: Pick<HostApi, 'database' | 'clock'>,
  elapsed: () => number,
): EmitParts['retryWhileUnavailable'] {
  return (work) => {
    const until = elapsed() + longestWait;
    return retryWhileUnavailable({ host, interval: 250, isOver: () => elapsed() >= until }, work);
  };
}
