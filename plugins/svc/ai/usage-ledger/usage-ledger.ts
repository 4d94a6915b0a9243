import { AsyncResource } from 'node:async_hooks';
import type { HostApi, Logger, Undo } from '#plugin-api';
import type { PriceTable } from '../../settings/prices/price.ts';
import type { UsageLedger, UsageRecord } from '../usage-record.ts';
import { localDay } from './local-day.ts';
import { usageRow } from './usage-row.ts';
import { writeUsage } from './usage-store.ts';

export interface UsageLedgerParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log' | 'site'>;
  readonly prices: () => Promise<PriceTable>;
  /** Whether calls are answered by the sandbox at this moment: they cost nothing. */
  readonly isSandbox: () => Promise<boolean>;
  /** For tests. */
  readonly limits?: Partial<typeof defaultLimits>;
}

export interface StoringLedger extends UsageLedger {
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
  /** As it was when the call ended; the switch may be turned before the call is stored. */
  readonly sandbox: Promise<boolean>;
}

async function storeBatch(batch: readonly Noted[], { host, prices }: Pick<UsageLedgerParts, 'host' | 'prices'>): Promise<void> {
  const [table, timezone, flags] = await Promise.all([prices(), host.site.timezone(), Promise.all(batch.map(({ sandbox }) => sandbox))]);
  const rows = batch.map(({ usage, time }, index) => usageRow({ usage, time, sandbox: flags[index] === true }, table));
  await writeUsage(host.database, { rows, dayOf: localDay(timezone) });
}

/**
 * The ledger in the database: calls are noted in memory and stored in batches, each with its cost by the prices of that
 * moment. On several nodes each stores its own. A process that is killed loses what it noted within the last second.
 */
export function createUsageLedger({ host, prices, isSandbox, limits: given }: UsageLedgerParts): StoringLedger {
  const { clock, log } = host;
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
        await storeBatch(batch, { host, prices });
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

  function note(usage: UsageRecord): void {
    if (stopped || noted.length >= limits.kept) return report.dropped();
    noted.push({ usage, time: clock.now(), sandbox: isSandbox().catch(() => false) });
    if (noted.length >= limits.batch && !report.isFailing() && writing === undefined) void flushApart();
    else scheduleApart();
  }

  return {
    record(usage) {
      try {
        note(usage);
      } catch (error) {
        log.warn('A call could not be noted in the usage ledger.', { error });
      }
    },
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
