import type { Undo } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { leaseBeat, type ItemClaims } from './item-claims.ts';
import type { Claimed } from './item.ts';
import { giveBack, runItem } from './run-item.ts';
import type { RunStore } from './run-store.ts';

/** Texts written at once by one process. */
const concurrency = 3;

/** Writes the items of batches in the background. Any number of nodes may do so at once. */
export interface ContentWorker {
  /** There may be something to do. */
  wake(): void;
  /** Resolves when nothing is due here any more. */
  idle(): Promise<void>;
  /** Ends what is under way; its items wait for another process. */
  stop(): Promise<void>;
}

export function createContentWorker({
  context,
  claims,
  runs,
}: {
  readonly context: ServiceContext;
  readonly claims: ItemClaims;
  readonly runs: RunStore;
}): ContentWorker {
  const { clock, log } = context.host;
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
        const one: Promise<void> = workOn({ context, claims, runs, stopped: stopping.signal }, item).finally(() => {
          running.delete(one);
          wake();
        });
        running.add(one);
      }
      if (items.length === 0 && running.size === 0) await sleepUntilDue();
    } while (again);
  }

  /** Items that wait for another attempt are not forgotten until cron looks. */
  async function sleepUntilDue(): Promise<void> {
    const wait = await claims.nextIn();
    timer?.();
    timer = wait === null ? null : clock.after(Math.min(Math.max(wait, 200), 60_000), wake);
  }

  function wake(): void {
    again = true;
    if (stopping.signal.aborted) return;
    pumping ??= pump()
      .catch((error: unknown) => log.error('Batches of content could not be worked on; cron tries again.', { error }))
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
      stopping.abort(new Error('The process stops.'));
      timer?.();
      await pumping;
      await Promise.all(running);
    },
  };
}

interface Work {
  readonly context: ServiceContext;
  readonly claims: ItemClaims;
  readonly runs: RunStore;
  readonly stopped: AbortSignal;
}

/** One item under its lease. Never throws. */
async function workOn({ context, claims, runs, stopped }: Work, item: Claimed): Promise<void> {
  const { clock, log } = context.host;
  const lost = new AbortController();
  const undo = clock.every(leaseBeat, () => {
    claims.extend(item).then(
      (held) => {
        if (!held) lost.abort(new Error('The item was cancelled or taken over.'));
      },
      (error: unknown) => log.warn('A lease of a content item could not be lengthened.', { error }),
    );
  });
  try {
    const batch = await runs.batch(item.batchId ?? 0);
    if (batch === null) await claims.fail(item, 'Its batch is gone.');
    else await runItem({ context, claims, batch, item, signal: AbortSignal.any([stopped, lost.signal]) });
    if (stopped.aborted) await giveBack(claims, item);
  } catch (error) {
    // Its lease ends, and then it is tried again.
    log.error('An item of a content batch could not be settled.', { item: item.id, error });
  } finally {
    undo();
  }
}
