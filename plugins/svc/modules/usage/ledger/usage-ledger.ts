import { AsyncResource } from 'node:async_hooks';
import type { HostApi, Logger, Undo } from '#plugin-api';
import type { CallPrice, UsageLedger, UsageRecord } from '../../../ai/usage-record.ts';
import type { CountedBudget } from '../../budgets/guard/count-usage.ts';
import { createCallPrices, type CallPriceParts } from './call-price.ts';
import { localDay } from '../../../kit/local-day.ts';
import { usageRow } from './usage-row.ts';
import { sumReference, writeUsage, type ReferenceCost } from './usage-store.ts';

export interface UsageLedgerParts extends CallPriceParts {
  /** Told which budgets a write counted for. */
  readonly onCounted?: ((counted: readonly CountedBudget[]) => Promise<void>) | undefined;
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log' | 'site'>;
  /** For tests. */
  readonly limits?: Partial<typeof defaultLimits>;
}

export interface StoringLedger extends UsageLedger {
  /** What the calls with this reference cost until now; those that other nodes noted within the last second may be missing. */
  costOfReference(reference: string): Promise<ReferenceCost>;
  /** Stores what this process noted until now. Resolves whether or not the database took it. */
  flush(): Promise<void>;
  /** The last flush. Calls noted later are dropped, and the log says so. */
  stop(): Promise<void>;
}

const defaultLimits = {
  /** Calls that are stored without waiting for the time. */
  batch: 200,
  /** Milliseconds until noted calls are stored. */
  wait: 1000,
  /** Milliseconds until a failed write is tried again. */
  waitAfterFailure: 5000,
  /** Calls kept while the database is away: some 5 MB. Later ones are dropped and counted. */
  kept: 10_000,
};

interface Noted {
  readonly usage: UsageRecord;
  readonly time: number;
  /** As it was when the call ended: prices and the switch of the sandbox may change before the call is stored. */
  readonly price: CallPrice | Promise<CallPrice>;
  /** The reservation it is settled with. */
  readonly held: string | null;
}

/** Answers how many were stored. */
async function storeBatch(
  batch: readonly Noted[],
  { host, onCounted }: Pick<UsageLedgerParts, 'host' | 'onCounted'>,
): Promise<number> {
  const timezone = await host.site.timezone();
  const rows = await Promise.all(
    batch.map(async ({ usage, time, price }) => usageRow({ usage, time, ...(await price) })),
  );
  const calls = batch.flatMap(({ held }) => (held === null ? [] : [held]));
  const counted = await writeUsage(host.database, { rows, dayOf: localDay(timezone), calls });
  // Not waited for: whoever is told of an alert may make a call that waits for this very write.
  void onCounted?.(counted);
  return batch.length;
}

/**
 * The ledger in the database: calls are noted in memory and stored in batches, each with its cost by the prices of the
 * moment it ended. On several nodes each stores its own. A process that is killed loses what it noted within the last second.
 */
export function createUsageLedger(parts: UsageLedgerParts): StoringLedger {
  const {
    host: { clock, log, database },
  } = parts;
  const price = createCallPrices(parts);
  const limits = { ...defaultLimits, ...parts.limits };
  const noted: Noted[] = [];
  const report = createReport(log, limits.kept);
  let stopped = false;
  let timer: Undo | undefined;
  let writing: Promise<void> | undefined;
  async function store(): Promise<void> {
    try {
      while (noted.length > 0) noted.splice(0, await storeBatch(noted.slice(0, limits.batch), parts));
      report.written();
    } catch (error) {
      report.failed(noted.length, error);
    }
  }

  /** One write at a time; whoever comes meanwhile waits for the one after it, which holds what they noted. */
  function flush(): Promise<void> {
    timer?.();
    timer = undefined;
    const current = (writing ?? Promise.resolve()).then(store).finally(() => {
      if (writing !== current) return;
      writing = undefined;
      if (noted.length > 0 && !stopped) schedule();
    });
    writing = current;
    return current;
  }

  function schedule(): void {
    if (timer !== undefined || writing !== undefined) return;
    timer = clock.after(report.isFailing() ? limits.waitAfterFailure : limits.wait, () => void flushApart());
  }

  // A call may be noted inside somebody's transaction: its rows must not be undone with that.
  const flushApart = AsyncResource.bind(flush);
  const scheduleApart = AsyncResource.bind(schedule);
  function note(usage: UsageRecord, known?: CallPrice, held: string | null = null): void {
    if (stopped || noted.length >= limits.kept) return report.dropped();
    noted.push({ usage, time: clock.now(), price: known ?? price(usage), held });
    if (noted.length >= limits.batch && !report.isFailing() && writing === undefined) void flushApart();
    else scheduleApart();
  }

  return {
    price,
    record: (usage, known) => note(usage, known),
    settle(usage, known, call) {
      note(usage, known, call);
      return flushApart();
    },
    costOfReference: (reference) => flushApart().then(() => sumReference(database, reference)),
    flush: () => flushApart(),
    async stop() {
      await flushApart();
      stopped = true;
      timer?.();
      report.stopped(noted.length);
    },
  };
}

/** Tells the log once when calls cannot be stored, once when the first is dropped, and how many were when it is over. */
function createReport(log: Logger, atMost: number) {
  let failing = false;
  let dropped = 0;
  return {
    isFailing: () => failing,
    failed(kept: number, error: unknown): void {
      if (!failing)
        log.warn('The usage ledger cannot be written; calls are kept in memory until it can.', {
          kept,
          at_most: atMost,
          error,
        });
      failing = true;
    },
    written(): void {
      if (failing) log.info('The usage ledger is written again.', { dropped });
      failing = false;
      dropped = 0;
    },
    dropped(): void {
      dropped += 1;
      if (dropped === 1)
        log.error('Calls are missing from the usage ledger: it is stopped, or could not be written for too long.');
    },
    stopped(left: number): void {
      if (left + dropped > 0)
        log.error('Calls are missing from the usage ledger: it could not be written before the stop.', {
          calls: left + dropped,
        });
    },
  };
}
