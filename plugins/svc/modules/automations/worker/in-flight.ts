import type { HostApi, Undo } from '#plugin-api';
import { heartbeatInterval, leaseDuration, type Claims } from '../queue/claims.ts';
import type { ClaimedItem } from '../queue/item.ts';
import type { AbortReason, Job } from './attempt.ts';

export interface InFlightDependencies {
  readonly host: Pick<HostApi, 'clock' | 'log'>;
  readonly claims: Pick<Claims, 'renew'>;
  readonly attempt: (job: Job) => Promise<void>;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  /** Called when an attempt ends. */
  readonly onEnd: () => void;
}

/** The attempts in progress in this process, and their leases. */
export interface InFlightItems {
  readonly size: number;
  /** Attempts started so far. */
  readonly started: number;
  start(item: ClaimedItem, task: Job['task'], type: Job['type']): void;
  /** Aborts those of these items that are in progress here. Nothing of them is stored. */
  abandon(ids: readonly number[]): void;
  /** Resolves when one of the attempts in progress ends. */
  next(): Promise<void>;
  /** Waits some seconds for the attempts in progress, then aborts them and releases their items. */
  stop(): Promise<void>;
}

interface Running {
  readonly item: ClaimedItem;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Time for attempts to finish on shutdown, in milliseconds. */
const shutdownTimeout = 4_000;

export function createInFlightItems({ host, claims, attempt, elapsed, onEnd }: InFlightDependencies): InFlightItems {
  const running = new Map<number, Running>();
  const leases = createLeaseRenewer({ host, claims, elapsed }, running);
  let stopHeartbeat: Undo | null = null;
  let started = 0;

  function stopRenewing(): void {
    stopHeartbeat?.();
    stopHeartbeat = null;
  }
  const all = (): Promise<unknown> => Promise.all([...running.values()].map(({ done }) => done));

  return {
    get size() {
      return running.size;
    },
    get started() {
      return started;
    },
    start(item, task, type) {
      const controller = new AbortController();
      started += 1;
      const done = attempt({ item, task, type, signal: controller.signal }).finally(() => {
        running.delete(item.id);
        if (running.size === 0) stopRenewing();
        onEnd();
      });
      running.set(item.id, { item, controller, done });
      if (stopHeartbeat !== null) return;
      leases.start();
      stopHeartbeat = host.clock.every(heartbeatInterval, () => void leases.renew());
    },
    abandon(ids) {
      for (const id of ids) running.get(id)?.controller.abort('lost' satisfies AbortReason);
    },
    next: () => Promise.race([...running.values()].map(({ done }) => done)),
    async stop() {
      const finished = new AbortController();
      await Promise.race([
        all().then(() => {
          finished.abort();
        }),
        host.clock.sleep(shutdownTimeout, finished.signal).catch(() => undefined),
      ]);
      for (const { controller } of running.values()) controller.abort('stop' satisfies AbortReason);
      await all();
      stopRenewing();
    },
  };
}

/** Renews the leases of the attempts in progress. Aborts those whose lease is lost, or could not be renewed in time. */
function createLeaseRenewer(
  { host, claims, elapsed }: Pick<InFlightDependencies, 'host' | 'claims' | 'elapsed'>,
  running: ReadonlyMap<number, Running>,
): { start(): void; renew(): Promise<void> } {
  let renewedAt = elapsed();
  let isRenewing = false;
  const abortLost = (isLost: (item: ClaimedItem) => boolean): void => {
    for (const { item, controller } of running.values())
      if (isLost(item)) controller.abort('lost' satisfies AbortReason);
  };

  async function renew(): Promise<void> {
    if (isRenewing) return;
    isRenewing = true;
    const startedAt = elapsed();
    const items = [...running.values()].map(({ item }) => item);
    try {
      const held = await claims.renew(items);
      renewedAt = startedAt;
      // An attempt that started or ended meanwhile has no lost lease.
      abortLost((item) => items.includes(item) && !held.has(item.id));
    } catch (error) {
      host.log.warn('Failed to renew the leases of automation items; trying again', {
        event: 'automation_lease_renewal_failed',
        error,
      });
      if (elapsed() - renewedAt > leaseDuration) abortLost(() => true);
    } finally {
      isRenewing = false;
    }
  }

  return { start: () => void (renewedAt = elapsed()), renew };
}
