import { randomUUID } from 'node:crypto';
import type { Database } from '../database/database-contract.ts';

/** The tables whose rows are counted. */
export type Counted = 'posts' | 'terms' | 'comments';

/** A number, or several by name. */
type Counts = number | ReadonlyMap<string, number>;

/**
 * Counts of whole tables, which each page of a list needs and which take 50 to 100 ms with a million rows. They are read again
 * after a write of any node: other nodes learn of it within a second.
 */
export interface CountCache {
  /** Small counts are not cached. Inside a transaction, which may have written, `read` always runs. */
  get<Value extends Counts>(table: Counted, key: string, read: () => Promise<Value>): Promise<Value>;
  /** After each write that may change counts of the table. */
  changed(table: Counted): Promise<void>;
  /** Starts listening for changes of other nodes. */
  follow(): Promise<void>;
}

const channel = 'content_counts';

/** @param least counts below it take less than a millisecond, and are read each time. */
export function createCountCache(
  database: Pick<Database, 'notify' | 'listen' | 'inTransaction' | 'afterCommit'>,
  least = 10_000,
): CountCache {
  const self = randomUUID();
  const tables = new Map<string, Map<string, Promise<unknown>>>();
  return {
    async get<Value extends Counts>(table: Counted, key: string, read: () => Promise<Value>): Promise<Value> {
      if (database.inTransaction()) return read();
      const counts = tables.get(table) ?? new Map<string, Promise<unknown>>();
      // A write meanwhile drops the map, and with it what was read before the write.
      tables.set(table, counts);
      const known = counts.get(key) as Promise<Value> | undefined;
      if (known !== undefined) return known;
      const reading = read();
      counts.set(key, reading);
      const value = await reading.catch((error: unknown) => {
        counts.delete(key);
        throw error;
      });
      if (sum(value) < least) counts.delete(key);
      return value;
    },
    async changed(table) {
      database.afterCommit(() => void tables.delete(table));
      await database.notify(channel, `${self} ${table}`);
    },
    async follow() {
      await database.listen(
        channel,
        (payload) => {
          const [from, table = ''] = payload.split(' ');
          if (from !== self) tables.delete(table);
        },
        () => tables.clear(),
      );
    },
  };
}

function sum(counts: Counts): number {
  return typeof counts === 'number' ? counts : [...counts.values()].reduce((total, count) => total + count, 0);
}
