import { localDay } from '#plugin-api';
import { AsyncResource } from 'node:async_hooks';
import type { HostApi, Logger, Metric, Undo } from '#plugin-api';
import type { UsageCounts } from '../../../ai/ports.ts';
import { createCallPrices, type CallPriceParts, type PricedUsage } from './call-price.ts';
import type { CallPrice, UsageRecord } from './usage-record.ts';
import { usageRow, type NewUsageRow } from './usage-row.ts';
import { createUsageMetrics, type UsageMetrics } from './usage-metrics.ts';
import type { SpooledUsage, UsageSpool } from './usage-spool.ts';
import { writeUsage, type UsageCounter } from './usage-store.ts';

export interface UsageLedgerParts extends CallPriceParts {
  readonly counter?: UsageCounter | undefined;
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log' | 'site'>;
  /** Keeps what cannot be stored before a stop. Default: that is lost. */
  readonly spool?: UsageSpool;
  /** For tests. */
  readonly limits?: Partial<typeof defaultLimits>;
}

/** Records finished calls, failed ones too. */
export interface UsageLedger {
  /** Never throws and never makes the caller wait. @param price what `price` returned for the call. Default: the price now. */
  record(usage: UsageRecord, price?: CallPrice): void;
  /**
   * Resolves once the call is stored, unless the database is away; releases the call's reservation.
   *
   * @param call null: none was made, so only the reservation ends. @param reservation its id
   */
  settle(call: SettledCall | null, reservation: string): Promise<void>;
  /** As the provider reported it, else by the current price table. Never rejects: on an error the price is unknown. */
  price(usage: PricedUsage, attempts?: UsageCounts['attempts']): Promise<CallPrice>;
  /** Counters of the calls that this process stored. */
  metrics(): readonly Metric[];
  /** Stores what this process has recorded. Resolves even if the database is away. */
  flush(): Promise<void>;
  /** Stores what earlier processes kept in files. Never rejects: tries again until the database responds. */
  restore(): Promise<void>;
  /** The last flush, for five seconds. What it does not store is kept in a file. Calls recorded later are dropped and logged. */
  stop(): Promise<void>;
}

export interface SettledCall {
  readonly usage: UsageRecord;
  readonly price: CallPrice;
}

const defaultLimits = {
  /** Calls that are stored without waiting for the timer. */
  batch: 200,
  /** Milliseconds until recorded calls are stored. */
  wait: 1000,
  /** Milliseconds until a failed write is retried. */
  waitAfterFailure: 5000,
  /** Milliseconds that a stop waits for the database. */
  waitAtStop: 5000,
  /** Calls held in memory while the database is away: some 5 MB. Later ones are dropped and counted. */
  pending: 10_000,
};

interface PendingCall {
  readonly call: {
    readonly usage: UsageRecord;
    /** As of the end of the call: prices and sandbox mode may change before the call is stored. */
    readonly price: CallPrice | Promise<CallPrice>;
  } | null;
  readonly time: number;
  readonly reservation: string | null;
}

/** The site's day of a moment. The calls of a batch share a few seconds, and formatting a day takes as long as a row. */
function createDays(timezone: string): (time: number) => string {
  const days = new Map<number, string>();
  return (time) => {
    const second = Math.floor(time / 1000);
    const day = days.get(second) ?? localDay(time, timezone);
    days.set(second, day);
    return day;
  };
}

async function toWrite(batch: readonly PendingCall[]): Promise<SpooledUsage> {
  const rows: NewUsageRow[] = [];
  for (const { call, time } of batch)
    if (call !== null)
      rows.push(
        usageRow({ usage: call.usage, time, ...(call.price instanceof Promise ? await call.price : call.price) }),
      );
  return { rows, reservations: batch.flatMap(({ reservation }) => (reservation === null ? [] : [reservation])) };
}

type Storing = Pick<UsageLedgerParts, 'host' | 'counter'> & { readonly metrics: UsageMetrics };

/** Returns what to do after the commit of a transaction around it, if there is one. */
async function storeCalls(usage: SpooledUsage, { host, counter, metrics }: Storing): Promise<() => void> {
  const dayOf = createDays(await host.site.timezone());
  const afterCommit = await writeUsage(host.database, { ...usage, dayOf }, counter);
  return () => {
    metrics.count(usage.rows);
    // Not awaited: an action that runs then may make a call that waits for this very write.
    void afterCommit();
  };
}

/** The calls of a file are more than one statement should hold. */
async function storeSpooled({ rows, reservations }: SpooledUsage, size: number, storing: Storing): Promise<() => void> {
  const ends = [await storeCalls({ rows: [], reservations }, storing)];
  for (let start = 0; start < rows.length; start += size)
    ends.push(await storeCalls({ rows: rows.slice(start, start + size), reservations: [] }, storing));
  return () => ends.forEach((end) => end());
}

/**
 * The ledger in the database: calls are recorded in memory and stored in batches, each with its cost by the prices when
 * it ended. On several nodes each stores its own. A killed process loses what it recorded within the last second.
 */
export function createUsageLedger(parts: UsageLedgerParts): UsageLedger {
  const { host, spool } = parts;
  const { clock, log } = host;
  const price = createCallPrices(parts);
  const limits = { ...defaultLimits, ...parts.limits };
  const pending: PendingCall[] = [];
  const report = createReport(log, limits.pending);
  const metrics = createUsageMetrics();
  const storing = { ...parts, metrics };
  let stopped = false;
  let keeping = Promise.resolve();
  let timer: Undo | undefined;
  let writing: Promise<void> | undefined;
  async function store(): Promise<void> {
    try {
      while (pending.length > 0) {
        const batch = pending.slice(0, limits.batch);
        const afterCommit = await storeCalls(await toWrite(batch), storing);
        pending.splice(0, batch.length);
        afterCommit();
        if (stopped) await keepPending();
      }
      report.written();
    } catch (error) {
      report.failed(pending.length, error);
    }
  }

  /** After the stop, and again when a write that took longer has ended all the same. */
  function keepPending(): Promise<void> {
    keeping = keeping.then(async () => {
      const left = await toWrite(pending);
      const error: unknown = await spool?.keep(left).catch((thrown: unknown) => thrown ?? 'unknown');
      report.stopped(left.rows, spool === undefined ? 'no file' : error);
    });
    return keeping;
  }

  async function restore(): Promise<void> {
    if (stopped) return;
    try {
      const setAside = await spool?.restore(async (usage) => {
        const afterCommit = await storeSpooled(usage, limits.batch, storing);
        return () => {
          log.info('Stored calls that were kept in a file', { event: 'usage_restored', calls: usage.rows.length });
          afterCommit();
        };
      });
      for (const { path, error } of setAside ?? [])
        log.error('A file with calls cannot be stored; it was renamed', { event: 'usage_set_aside', path, error });
    } catch (error) {
      log.warn('Failed to store calls that were kept in a file', { event: 'usage_restore_failed', error });
      if (host.database.isUnavailable(error)) clock.after(limits.waitAfterFailure, () => void restore());
    }
  }

  /** One write at a time: a call recorded during a write is in the next one. */
  function flush(): Promise<void> {
    timer?.();
    timer = undefined;
    const current = (writing ?? Promise.resolve()).then(store).finally(() => {
      if (writing !== current) return;
      writing = undefined;
      if (pending.length > 0 && !stopped && timer === undefined) schedule();
    });
    writing = current;
    return current;
  }

  function schedule(): void {
    timer = clock.after(report.isFailing() ? limits.waitAfterFailure : limits.wait, () => void flushDetached());
  }

  // A call may be recorded inside a transaction: its rollback must not undo the row.
  const flushDetached = AsyncResource.bind(flush);
  const scheduleDetached = AsyncResource.bind(schedule);
  function add(call: PendingCall['call'], reservation: string | null = null): void {
    if (stopped || pending.length >= limits.pending) return report.dropped();
    pending.push({ call, time: clock.now(), reservation });
    if (pending.length >= limits.batch && !report.isFailing() && writing === undefined) void flushDetached();
    else if (timer === undefined && writing === undefined) scheduleDetached();
  }

  return {
    price,
    record: (usage, known) => add({ usage, price: known ?? price(usage) }),
    settle(call, reservation) {
      add(call, reservation);
      return flushDetached();
    },
    metrics: () => metrics.read(),
    flush: () => flushDetached(),
    restore,
    async stop() {
      let undo: Undo | undefined;
      const late = new Promise<void>((resolve) => (undo = clock.after(limits.waitAtStop, resolve)));
      await Promise.race([flushDetached(), late]);
      undo?.();
      stopped = true;
      timer?.();
      await keepPending();
    },
  };
}

/** Logs once when calls cannot be stored, once when the first is dropped, and how many were when it is over. */
function createReport(log: Logger, limit: number) {
  let failing = false;
  let dropped = 0;
  return {
    isFailing: () => failing,
    failed(pending: number, error: unknown): void {
      if (!failing)
        log.warn('Failed to write the usage ledger; calls stay in memory until it succeeds', {
          event: 'usage_write_failed',
          pending,
          limit,
          error,
        });
      failing = true;
    },
    written(): void {
      if (failing) log.info('Usage ledger written again', { event: 'usage_write_recovered', dropped });
      failing = false;
      dropped = 0;
    },
    dropped(): void {
      dropped += 1;
      if (dropped === 1)
        log.error('Dropped a call: the usage ledger is stopped, or could not be written for too long', {
          event: 'usage_dropped',
        });
    },
    /** @param error why the calls that are left could not be kept in a file; undefined: they were */
    stopped(left: readonly NewUsageRow[], error: unknown): void {
      const cost = left.reduce((sum, row) => sum + (row.cost ?? 0), 0) / 1e6;
      if (error === undefined && left.length > 0)
        log.warn('Kept calls in a file, because the usage ledger could not be written before the stop', {
          event: 'usage_kept',
          ...{ calls: left.length, cost_usd: cost },
        });
      const lost = (error === undefined ? 0 : left.length) + dropped;
      if (lost > 0)
        log.error('Dropped calls: the usage ledger could not be written before the stop', {
          event: 'usage_lost',
          ...{ calls: lost, cost_usd: error === undefined ? null : cost, error },
        });
    },
  };
}
