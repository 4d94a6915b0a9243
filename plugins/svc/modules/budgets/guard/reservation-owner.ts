import { hostname } from 'node:os';
import type { Clock, DatabaseApi, Logger, Undo } from '#plugin-api';
import { budgetReservations } from './budget-tables.ts';

/** Milliseconds after which what a process reserved is released if the process no longer renews it. */
export const leaseDuration = 60_000;
/** Milliseconds between two renewals. */
const renewalInterval = 10_000;

export interface OwnerParts {
  readonly database: DatabaseApi;
  readonly clock: Pick<Clock, 'every'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** This process, to which reservations belong until they are settled. */
export interface ReservationOwner {
  /** As stored with each reservation. */
  readonly name: string;
  /** Renews the leases of this process's reservations until it has none. Call it after each that was stored. */
  keep(): void;
  /** Whether a reservation's process is running: this one, or another one of this machine. Of other machines the lease decides alone. */
  isRunning(owner: string): boolean;
}

export function createReservationOwner({ database, clock, log }: OwnerParts): ReservationOwner {
  const machine = hostname().slice(0, 60);
  // The time of its start: a process in a container has the same id after each start.
  const name = `${machine}/${String(process.pid)}/${String(Math.round(performance.timeOrigin))}`;
  let undo: Undo | null = null;
  let hasNew = false;
  let renewing = false;

  async function renew(): Promise<void> {
    if (renewing) return;
    renewing = true;
    hasNew = false;
    try {
      const renewed = await database
        .knex(budgetReservations)
        .where({ owner: name })
        .update({ lease: database.knex.raw('? + ?', [database.now(), leaseDuration]) });
      if (renewed === 0 && !hasNew) {
        undo?.();
        undo = null;
      }
    } catch (error) {
      log.warn('Failed to renew budget reservations; retrying', { event: 'budget_renewal_failed', error });
    } finally {
      renewing = false;
    }
  }

  return {
    name,
    keep() {
      hasNew = true;
      undo ??= clock.every(renewalInterval, () => void renew());
    },
    isRunning(owner) {
      const [, host, pid] = /^(.*)\/(\d+)\/[^/]*$/.exec(owner) ?? [];
      if (owner === name || host !== machine || Number(pid) === process.pid) return owner === name;
      return isProcess(Number(pid));
    },
  };
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
