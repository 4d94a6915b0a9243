import type { Clock, Logger, Undo } from '#plugin-api';
import { heartbeatInterval, leaseTime, type Heartbeat, type Store } from '../store/store-contract.ts';

/** The database's clock was set back when it is so far behind the process's, in milliseconds. */
const setBack = 30_000;
/** So long after the last beat an attempt, which takes up to five seconds, still ends within the lease; in milliseconds. */
const freshFor = leaseTime - 5_000;
/** Every so many beats the worker looks for open jobs that nobody told it of. */
const beatsToLook = 15;

export interface HeartbeatParts {
  readonly store: Pick<Store, 'heartbeat' | 'mendTimes'>;
  readonly clock: Pick<Clock, 'every'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  readonly beaten: (heartbeat: Pick<Heartbeat, 'freed' | 'isLost'>) => void;
}

/** Keeps this process's leases, and learns which of them are lost. */
export interface LeaseKeeper {
  start(): void;
  /** Waits for a beat under way. */
  stop(): Promise<void>;
  /** False after a time in which leases may have been lost (the process was stopped, the database away): first ask, then send. Begins to ask. */
  isFresh(): boolean;
}

export function createHeartbeat({ store, clock, log, elapsed, beaten }: HeartbeatParts): LeaseKeeper {
  let undo: Undo | null = null;
  let beating: Promise<void> | null = null;
  let beatAt = elapsed();
  let beats = 0;
  /** The database's time less the process's at the last beat. */
  let offset: number | null = null;

  async function beat(): Promise<void> {
    const begun = elapsed();
    try {
      const { freed, isLost, time } = await store.heartbeat();
      const mended = await mend(time - elapsed());
      // Not before what is lost is taken away right below: in between, what was claimed might be sent.
      beatAt = begun;
      beats += 1;
      beaten({ freed: freed || mended || beats % beatsToLook === 0, isLost });
    } catch (error) {
      log.warn('The leases of webhook deliveries could not be lengthened; trying again.', { error });
    }
  }

  /** Jobs of this and of other nodes, dead ones too, would wait as long as the clock was set back. */
  async function mend(now: number): Promise<boolean> {
    const isBack = offset === null || now < offset - setBack;
    if (!isBack) {
      offset = now;
      return false;
    }
    const mended = await store.mendTimes();
    offset = now;
    return mended > 0;
  }

  function start(): void {
    if (undo !== null) return;
    beatAt = elapsed();
    undo = clock.every(heartbeatInterval, begin);
    begin();
  }

  function begin(): void {
    beating ??= beat().finally(() => {
      beating = null;
    });
  }

  return {
    start,
    async stop() {
      undo?.();
      undo = null;
      await beating;
    },
    isFresh() {
      if (elapsed() - beatAt <= freshFor) return true;
      begin();
      return false;
    },
  };
}
