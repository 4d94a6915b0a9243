import type { Clock, Logger, Undo } from '#plugin-api';
import { heartbeatInterval, leaseDuration, type Heartbeat, type Store } from '../store/store-contract.ts';

/** Milliseconds by which the database's clock has to fall behind the process's to count as set back. */
const clockSetBack = 30_000;
/** Milliseconds after the last heartbeat in which an attempt of five seconds still ends within the lease. */
const freshFor = leaseDuration - 5_000;
/** Heartbeats between two searches for open jobs of which no notification arrived. */
const heartbeatsPerDiscovery = 15;

export interface HeartbeatParts {
  readonly store: Pick<Store, 'heartbeat' | 'correctClockSkew'>;
  readonly clock: Pick<Clock, 'every'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  readonly onHeartbeat: (heartbeat: Pick<Heartbeat, 'freed' | 'isLost'>) => void;
}

/** Renews the leases of this process and reports lost ones. */
export interface LeaseHeartbeat {
  start(): void;
  /** Waits for a running heartbeat. */
  stop(): Promise<void>;
  /** Returns false, and starts a heartbeat, if leases may have expired: the process was suspended or the database unavailable. */
  isFresh(): boolean;
}

export function createHeartbeat({ store, clock, log, elapsed, onHeartbeat }: HeartbeatParts): LeaseHeartbeat {
  let undo: Undo | null = null;
  let running: Promise<void> | null = null;
  let lastAt = elapsed();
  let count = 0;
  /** The database's time minus the process's at the last heartbeat. */
  let offset: number | null = null;

  async function send(): Promise<void> {
    const startedAt = elapsed();
    try {
      const { freed, isLost, time } = await store.heartbeat();
      const corrected = await correctSkew(time - elapsed());
      // In the same tick as `onHeartbeat`, which drops lost jobs: otherwise they might be sent in between.
      lastAt = startedAt;
      count += 1;
      onHeartbeat({ freed: freed || corrected || count % heartbeatsPerDiscovery === 0, isLost });
    } catch (error) {
      log.warn('Failed to renew leases of webhook deliveries; retrying', {
        event: 'webhook_lease_renewal_failed',
        error,
      });
    }
  }

  /** After the clock was set back, the jobs of all nodes would wait that much longer. */
  async function correctSkew(now: number): Promise<boolean> {
    const isBack = offset === null || now < offset - clockSetBack;
    if (!isBack) {
      offset = now;
      return false;
    }
    const changed = await store.correctClockSkew();
    offset = now;
    return changed > 0;
  }

  function start(): void {
    if (undo !== null) return;
    lastAt = elapsed();
    undo = clock.every(heartbeatInterval, begin);
    begin();
  }

  function begin(): void {
    running ??= send().finally(() => {
      running = null;
    });
  }

  return {
    start,
    async stop() {
      undo?.();
      undo = null;
      await running;
    },
    isFresh() {
      if (elapsed() - lastAt <= freshFor) return true;
      begin();
      return false;
    },
  };
}
