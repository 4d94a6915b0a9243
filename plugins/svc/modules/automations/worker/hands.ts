import type { HostApi, Undo } from '#plugin-api';
import { leaseBeat, leaseTime, type Claims } from '../queue/claims.ts';
import type { ClaimedItem } from '../queue/item.ts';
import type { GivenUp, Job } from './attempt.ts';

export interface HandsParts {
  readonly host: Pick<HostApi, 'clock' | 'log'>;
  readonly claims: Pick<Claims, 'extend'>;
  readonly attempt: (job: Job) => Promise<void>;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  /** An attempt has ended. */
  readonly ended: () => void;
}

/** What this process has in its hands: attempts under way, and their leases. */
export interface Hands {
  readonly size: number;
  /** Attempts begun so far. */
  readonly begun: number;
  begin(item: ClaimedItem, task: Job['task'], type: Job['type']): void;
  /** Gives up these items, should they be under way here: they are not this process's any more. */
  giveUp(ids: readonly number[]): void;
  /** Resolves when one of those under way has ended. */
  next(): Promise<void>;
  /** Lets what is under way end for a moment, then gives it back. */
  empty(): Promise<void>;
}

interface Running {
  readonly item: ClaimedItem;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Milliseconds that work under way has to end by itself at a stop. */
const grace = 4_000;

export function createHands({ host, claims, attempt, elapsed, ended }: HandsParts): Hands {
  const running = new Map<number, Running>();
  const keeper = createKeeper({ host, claims, elapsed }, running);
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
      beats = host.clock.every(leaseBeat, () => void keeper.beat());
    },
    giveUp(ids) {
      for (const id of ids) running.get(id)?.controller.abort('lost' satisfies GivenUp);
    },
    next: () => Promise.race([...running.values()].map(({ done }) => done)),
    async empty() {
      const over = new AbortController();
      await Promise.race([
        all().then(() => {
          over.abort();
        }),
        host.clock.sleep(grace, over.signal).catch(() => undefined),
      ]);
      for (const { controller } of running.values()) controller.abort('stop' satisfies GivenUp);
      await all();
      rest();
    },
  };
}

/** Lengthens the leases of what is under way; what was lost, or could not be lengthened for too long, is given up. */
function createKeeper(
  { host, claims, elapsed }: Pick<HandsParts, 'host' | 'claims' | 'elapsed'>,
  running: ReadonlyMap<number, Running>,
): { begin(): void; beat(): Promise<void> } {
  let beatAt = elapsed();
  let isBeating = false;
  const giveUp = (isLost: (item: ClaimedItem) => boolean): void => {
    for (const { item, controller } of running.values()) if (isLost(item)) controller.abort('lost' satisfies GivenUp);
  };

  async function beat(): Promise<void> {
    if (isBeating) return;
    isBeating = true;
    const begun = elapsed();
    const asked = [...running.values()].map(({ item }) => item);
    try {
      const held = await claims.extend(asked);
      beatAt = begun;
      // One that has ended meanwhile is not held either, and has nothing left to give up.
      giveUp((item) => asked.includes(item) && !held.has(item.id));
    } catch (error) {
      host.log.warn('The leases of automations could not be lengthened; trying again.', { error });
      if (elapsed() - beatAt > leaseTime) giveUp(() => true);
    } finally {
      isBeating = false;
    }
  }

  return { begin: () => void (beatAt = elapsed()), beat };
}
