import type { HostApi, Undo } from '#plugin-api';
import { heartbeatInterval, leaseDuration, type Claims } from '../queue/claims.ts';
import type { ClaimedItem } from '../queue/item.ts';
import type { AbortReason, Job } from './attempt.ts';

export interface InFlightDependencies {
  readonly host: Pick<HostApi, 'clock' | 'log'>;
  readonly claims: Pick<Claims, 'extend'>;
  readonly attempt: (job: Job) => Promise<void>;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  /** An attempt has ended. */
  readonly ended: () => void;
}

/** What this process has in its hands: attempts under way, and their leases. */
export interface InFlightItems {
  readonly size: number;
  /** Attempts begun so far. */
  readonly begun: number;
  begin(item: ClaimedItem, task: Job['task'], type: Job['type']): void;
  /** Gives up these items, should they be under way here: they are not this process's any more. */
  abandon(ids: readonly number[]): void;
  /** Resolves when one of those under way has ended. */
  next(): Promise<void>;
  /** Lets what is under way end for a moment, then gives it back. */
  stop(): Promise<void>;
}

interface Running {
  readonly item: ClaimedItem;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Milliseconds that work under way has to end by itself at a stop. */
const grace = 4_000;

export function createInFlightItems({ host, claims, attempt, elapsed, ended }: InFlightDependencies): InFlightItems {
  const running = new Map<number, Running>();
  const keeper = createLeaseRenewer({ host, claims, elapsed }, running);
  let beats: Undo | null = null;
  let begun = 0;

  function rest(): void {
    beats?.();
    beats = null;
  }
  const all = (): Promise<unknown> => Promise.all([...running.values()].map(({ done }) => done));

  return {
    get size() {
      return running.size;
    },
    get begun() {
      return begun;
    },
    begin(item, task, type) {
      const controller = new AbortController();
      begun += 1;
      const done = attempt({ item, task, type, signal: controller.signal }).finally(() => {
        running.delete(item.id);
        if (running.size === 0) rest();
        ended();
      });
      running.set(item.id, { item, controller, done });
      if (beats !== null) return;
      keeper.begin();
      beats = host.clock.every(heartbeatInterval, () => void keeper.beat());
    },
    abandon(ids) {
      for (const id of ids) running.get(id)?.controller.abort('lost' satisfies AbortReason);
    },
    next: () => Promise.race([...running.values()].map(({ done }) => done)),
    async stop() {
      const over = new AbortController();
      await Promise.race([
        all().then(() => {
          over.abort();
        }),
        host.clock.sleep(grace, over.signal).catch(() => undefined),
      ]);
      for (const { controller } of running.values()) controller.abort('stop' satisfies AbortReason);
      await all();
      rest();
    },
  };
}

/** Lengthens the leases of what is under way; what was lost, or could not be lengthened for too long, is given up. */
function createLeaseRenewer(
  { host, claims, elapsed }: Pick<InFlightDependencies, 'host' | 'claims' | 'elapsed'>,
  running: ReadonlyMap<number, Running>,
): { begin(): void; beat(): Promise<void> } {
  let beatAt = elapsed();
  let isBeating = false;
  const giveUp = (isLost: (item: ClaimedItem) => boolean): void => {
    for (const { item, controller } of running.values())
      if (isLost(item)) controller.abort('lost' satisfies AbortReason);
  };

  async function beat(): Promise<void> {
    if (isBeating) return;
    isBeating = true;
    const begun = elapsed();
    const asked = [...running.values()].map(({ item }) => item);
    try {
      const held = await claims.renew(asked);
      beatAt = begun;
      // One that has ended meanwhile is not held either, and has nothing left to give up.
      giveUp((item) => asked.includes(item) && !held.has(item.id));
    } catch (error) {
      host.log.warn('The leases of automations could not be lengthened; trying again.', { error });
      if (elapsed() - beatAt > leaseDuration) giveUp(() => true);
    } finally {
      isBeating = false;
    }
  }

  return { begin: () => void (beatAt = elapsed()), beat };
}
