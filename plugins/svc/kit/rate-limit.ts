import { createMinuteCounter, formatRetryTime, retryAfter } from '#plugin-api';
import { createTables } from './migrations.ts';
import type { Clock, DatabaseApi, RestError } from '#plugin-api';
import { currentDryRun } from './dry-run.ts';
import { errors } from './errors.ts';

export const rateLimitTable = 'svc_rate_windows';
const windowSeconds = 60;

/** One row for each minute with calls: its start in seconds since the epoch, and the number of calls. */
export const rateLimitMigration = createTables('0001_rate_windows', {
  [rateLimitTable](columns) {
    columns.bigInteger('starts_at').primary();
    columns.integer('calls').notNullable();
  },
});

export interface RateLimitParts {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Clock;
  /** Calls per minute; 0: no limit. */
  readonly perMinute: () => number | Promise<number>;
  /** Another table, and the values of its columns before `starts_at`. Default: the minutes of the whole site. */
  readonly windows?: { readonly table: string; readonly of: Readonly<Record<string, number>> };
}

/**
 * Counts a call in the current minute, over all nodes, in the database. Without a limit nothing is counted.
 * The process remembers a minute that is used up, so that a flood of refused calls causes no writes. A dry run (D31) is
 * checked and not counted.
 *
 * @throws RestError 429 `rest_svc_rate_limited` with `Retry-After`, the seconds until the minute ends
 */
export function createRateLimit({ database, clock, perMinute, windows }: RateLimitParts): () => Promise<void> {
  const { table, of } = windows ?? { table: rateLimitTable, of: {} };
  let usedUp = { window: -1, limit: -1 };

  async function count(window: number): Promise<number> {
    const { knex } = database;
    const [row] = await knex(table)
      .insert({ ...of, starts_at: window, calls: 1 })
      .onConflict([...Object.keys(of), 'starts_at'])
      .merge({ calls: knex.raw('?? + 1', [`${table}.calls`]) })
      .returning<{ calls: number }[]>('calls');
    const calls = Number(row?.calls ?? 1);
    if (calls === 1) await knex(table).where(of).where('starts_at', '<', window).delete();
    return calls;
  }

  async function callsWithThis(window: number): Promise<number> {
    const [row] = (await database
      .knex(table)
      .where({ ...of, starts_at: window })
      .select('calls')) as { calls: number }[];
    return Number(row?.calls ?? 0) + 1;
  }

  return async () => {
    const limit = await perMinute();
    if (limit <= 0) return;
    const now = Math.floor(clock.now() / 1000);
    const window = now - (now % windowSeconds);
    const isUsedUp = usedUp.window === window && usedUp.limit === limit;
    const isDry = currentDryRun() !== undefined;
    if (!isUsedUp && (await (isDry ? callsWithThis(window) : count(window))) <= limit) return;
    if (!isDry) usedUp = { window, limit };
    throw rateLimited(window + windowSeconds - now);
  };
}

export interface RequestCounts {
  /** Counts a call. @throws RestError 429 `rest_svc_rate_limited` with `Retry-After` after `most` calls in the current minute */
  count(name: string, most: number): void;
}

/** Protects against floods. Counts in memory on each node. */
export function createMinuteCounts({ clock }: { readonly clock: Pick<Clock, 'now'> }): RequestCounts {
  const count = createMinuteCounter({ clock });
  return {
    count(name, most) {
      const { calls, seconds } = count(name);
      if (calls > most) throw rateLimited(seconds);
    },
  };
}

function rateLimited(seconds: number): RestError {
  const wait = seconds * 1000;
  return errors.rate_limited({ values: { when: formatRetryTime(wait) }, headers: retryAfter(wait) });
}
