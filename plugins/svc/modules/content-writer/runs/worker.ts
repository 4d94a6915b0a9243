import type { Undo } from '#plugin-api';
import type { ContentPorts } from '../content-writer.ts';
import { heartbeatInterval, type ItemClaims } from './item-claims.ts';
import type { Claimed } from './item.ts';
import { releaseItem, runItem } from './run-item.ts';
import type { RunStore } from './run-store.ts';

/** Texts written at once per process. */
const concurrency = 3;

/** Writes the items of batches in the background, on any number of nodes at once. */
export interface ContentWorker {
  /** Looks for due items now. */
  wake(): void;
  /** Processes items until none is due. */
  idle(): Promise<void>;
  /** Aborts the items in progress and returns them to the queue. */
  stop(): Promise<void>;
}

export function createContentWorker({
  ports,
  claims,
  runs,
}: {
  readonly ports: ContentPorts;
  readonly claims: ItemClaims;
  readonly runs: RunStore;
}): ContentWorker {
  const { clock, log } = ports.host;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let pumping: Promise<void> | null = null;
  let again = false;
  let timer: Undo | null = null;

  async function pump(): Promise<void> {
    do {
      again = false;
      if (stopping.signal.aborted) return;
      const free = concurrency - running.size;
      const items = free > 0 ? await claims.claim(free) : [];
      for (const item of items) {
        const one: Promise<void> = workOn({ ports, claims, runs, stopped: stopping.signal }, item).finally(() => {
          running.delete(one);
          wake();
        });
        running.add(one);
      }
      if (items.length === 0 && running.size === 0) await sleepUntilDue();
    } while (again);
  }

  /** Retries start on time, without waiting for cron. */
  async function sleepUntilDue(): Promise<void> {
    const wait = await claims.nextDue();
    timer?.();
    timer = wait === null ? null : clock.after(Math.min(Math.max(wait, 200), 60_000), wake);
  }

  function wake(): void {
    again = true;
    if (stopping.signal.aborted) return;
    pumping ??= pump()
      .catch((error: unknown) =>
        log.error('Failed to process content batches; cron tries again', { event: 'content_batches_failed', error }),
      )
      .finally(() => {
        pumping = null;
        if (again) wake();
      });
  }

  return {
    wake,
    async idle() {
      wake();
      while (pumping !== null || running.size > 0) await Promise.all([pumping, ...running]);
    },
    async stop() {
      stopping.abort(new Error('The process is shutting down.'));
      timer?.();
      await pumping;
      await Promise.all(running);
    },
  };
}

interface Work {
  readonly ports: ContentPorts;
  readonly claims: ItemClaims;
  readonly runs: RunStore;
  readonly stopped: AbortSignal;
}

/** One item under its lease. Never throws. */
async function workOn({ ports, claims, runs, stopped }: Work, item: Claimed): Promise<void> {
  const { clock, log } = ports.host;
  const lost = new AbortController();
  const undo = clock.every(heartbeatInterval, () => {
    claims.renew(item).then(
      (held) => {
        if (!held) lost.abort(new Error('The item was cancelled or claimed by another process.'));
      },
      (error: unknown) =>
        log.warn('Failed to renew the lease of a content item', { event: 'content_lease_renewal_failed', error }),
    );
  });
  try {
    const batch = await runs.batch(item.batchId ?? 0);
    if (batch === null) await claims.fail(item, 'The batch was deleted.');
    else await runItem({ ports, claims, batch, item, signal: AbortSignal.any([stopped, lost.signal]) });
    if (stopped.aborted) await releaseItem(claims, item);
  } catch (error) {
    // The lease expires, and the item is claimed again.
    log.error('Failed to store the result of a content item', {
      event: 'content_result_lost',
      item: item.id,
      error,
    });
  } finally {
    undo();
  }
}
