import { AsyncResource } from 'node:async_hooks';
import type { HostApi, Logger, Undo } from '#plugin-api';
import type { CallPrice, UsageLedger, UsageRecord } from '../usage-record.ts';
import { createCallPrices, type CallPriceParts } from './call-price.ts';
import { localDay } from './local-day.ts';
import { usageRow } from './usage-row.ts';
import { sumReference, writeUsage, type ReferenceCost } from './usage-store.ts';

export interface UsageLedgerParts extends CallPriceParts {
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
}

async function storeBatch(batch: readonly Noted[], host: UsageLedgerParts['host']): Promise<void> {
  const timezone = await host.site.timezone();
  const rows = await Promise.all(batch.map(async ({ usage, time, price }) => usageRow({ usage, time, ...(await price) })));
  await writeUsage(host.database, { rows, dayOf: localDay(timezone) });
}

/**
 * The ledger in the database: calls are noted in memory and stored in batches, each with its cost by the prices of the
 * moment it ended. On several nodes each stores its own. A process that is killed loses what it noted within the last second.
 */
export function createUsageLedger(parts: UsageLedgerParts): StoringLedger {
  const { host, limits: given } = parts;
  const { clock, log } = host;
  const price = createCallPrices(parts);
  const limits = { ...defaultLimits, ...given };
  const noted: Noted[] = [];
  const report = createReport(log, limits.kept);
  let stopped = false;
  let timer: Undo | undefined;
  let writing: Promise<void> | undefined;

  async function store(): Promise<void> {
    try {
      while (noted.length > 0) {
        const batch = noted.slice(0, limits.batch);
        await storeBatch(batch, host);
        noted.splice(0, batch.length);
      }
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

  function note(usage: UsageRecord, known: CallPrice | undefined): void {
    if (stopped || noted.length >= limits.kept) return report.dropped();
    noted.push({ usage, time: clock.now(), price: known ?? price(usage) });
    if (noted.length >= limits.batch && !report.isFailing() && writing === undefined) void flushApart();
    else scheduleApart();
  }

  return {
    price,
    record: note,
    costOfReference: (reference) => flushApart().then(() => sumReference(host.database, reference)),
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
      if (!failing) log.warn('The usage ledger cannot be written; calls are kept in memory until it can.', { kept, at_most: atMost, error });
      failing = true;
    },
    written(): void {
      if (failing) log.info('The usage ledger is written again.', { dropped });
      failing = false;
      dropped = 0;
    },
    dropped(): void {
      dropped += 1;
      if (dropped === 1) log.error('Calls are missing from the usage ledger: it is stopped, or could not be written for too long.');
    },
    stopped(left: number): void {
      if (left + dropped > 0) log.error('Calls are missing from the usage ledger: it could not be written before the stop.', { calls: left + dropped });
    },
  };
}
