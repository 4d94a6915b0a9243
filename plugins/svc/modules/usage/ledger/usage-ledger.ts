import { localDay } from '#plugin-api';
import { AsyncResource } from 'node:async_hooks';
import type { HostApi, Logger, Metric, Undo } from '#plugin-api';
import type { UsageCounts } from '../../../ai/ports.ts';
import { createCallPrices, type CallPriceParts, type PricedUsage } from './call-price.ts';
import type { CallPrice, UsageRecord } from './usage-record.ts';
import { usageRow, type NewUsageRow } from './usage-row.ts';
import { createUsageMetrics, type UsageMetrics } from './usage-metrics.ts';
import { writeUsage, type UsageCounter } from './usage-store.ts';

export interface UsageLedgerParts extends CallPriceParts {
  readonly counter?: UsageCounter | undefined;
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log' | 'site'>;
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
  /** The last flush. Calls recorded later are dropped and logged. */
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

/** Returns how many calls were stored. */
async function storeBatch(
  batch: readonly PendingCall[],
  { host, counter, metrics }: Pick<UsageLedgerParts, 'host' | 'counter'> & { readonly metrics: UsageMetrics },
): Promise<number> {
  const timezone = await host.site.timezone();
  const rows: NewUsageRow[] = [];
  for (const { call, time } of batch)
    if (call !== null)
      rows.push(
        usageRow({ usage: call.usage, time, ...(call.price instanceof Promise ? await call.price : call.price) }),
      );
  const reservations = batch.flatMap(({ reservation }) => (reservation === null ? [] : [reservation]));
  const afterCommit = await writeUsage(host.database, { rows, dayOf: createDays(timezone), reservations }, counter);
  metrics.count(rows);
  // Not awaited: an action that runs then may make a call that waits for this very write.
  void afterCommit();
  return batch.length;
}

/**
 * The ledger in the database: calls are recorded in memory and stored in batches, each with its cost by the prices when
 * it ended. On several nodes each stores its own. A killed process loses what it recorded within the last second.
 */
export function createUsageLedger(parts: UsageLedgerParts): UsageLedger {
  const { clock, log } = parts.host;
  const price = createCallPrices(parts);
  const limits = { ...defaultLimits, ...parts.limits };
  const pending: PendingCall[] = [];
  const report = createReport(log, limits.pending);
  const metrics = createUsageMetrics();
  const storing = { ...parts, metrics };
  let stopped = false;
  let timer: Undo | undefined;
  let writing: Promise<void> | undefined;
  async function store(): Promise<void> {
    try {
      while (pending.length > 0) pending.splice(0, await storeBatch(pending.slice(0, limits.batch), storing));
      report.written();
    } catch (error) {
      report.failed(pending.length, error);
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
    async stop() {
      await flushDetached();
      stopped = true;
      timer?.();
      report.stopped(pending.length);
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
    stopped(left: number): void {
      if (left + dropped > 0)
        log.error('Dropped calls: the usage ledger could not be written before the stop', {
          event: 'usage_lost',
          calls: left + dropped,
        });
    },
  };
}
