import type { HostApi } from '#plugin-api';
import type { Catalogue, Columns } from './catalogue.ts';
import type { IdBits } from './id-bits.ts';
import { indexConversations, type IndexRun } from './conversation-texts.ts';
import { createLiveCatalogue } from './live-catalogue.ts';
import { findTexts } from './find-texts.ts';
import { createSelect, pageOfIds, type LogFilter, type LogPage } from './select.ts';

export interface FoundLogs {
  /** Of the page, newest first. */
  readonly ids: readonly number[];
  /** All that match, counted. */
  readonly total: number;
}

export interface LogSearch {
  find(filter: LogFilter, page: LogPage): Promise<FoundLogs>;
  /** Ids of all that match, newest first. */
  all(filter: LogFilter): Promise<Uint32Array>;
  /** The number of conversations. */
  count(): Promise<number>;
  /** Conversations per day of their last message. @param dayOf The day of a time in milliseconds. */
  perDay(filter: LogFilter, dayOf: (time: number) => string): Promise<ReadonlyMap<string, number>>;
  /** See indexConversations. */
  index(run?: IndexRun): Promise<number>;
  /** Reads what the first search needs. */
  warmUp(): Promise<void>;
}

export interface LogSearchParts {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
  /** See LiveCatalogueParts. */
  readonly onGap?: () => void;
}

export function createLogSearch({ host: { database, clock }, onGap }: LogSearchParts): LogSearch {
  const live = createLiveCatalogue({ database, clock, onGap });
  const select = createSelect();
  const withText = (text = ''): Promise<IdBits | null> => findTexts(database, text);

  /** Rows of the conversations that match, newest first. Only valid until the next await. */
  async function matching(filter: LogFilter): Promise<{ readonly columns: Columns; readonly rows: Uint32Array }> {
    const [catalogue, hits] = await Promise.all([live.current(), withText(filter.text)]);
    const columns = catalogue.columns();
    return { columns, rows: select(columns, { ...filter, hits }) };
  }

  return {
    async find(filter, page) {
      if (!isNarrowed(filter)) {
        const [catalogue, hits] = await Promise.all([live.current(), withText(filter.text)]);
        return hits === null ? pageOfAll(catalogue, page) : pageOfIds(catalogue.columns(), hits, page);
      }
      const {
        columns: { first, slots },
        rows,
      } = await matching(filter);
      return {
        ids: Array.from(rows.subarray(page.offset, page.offset + page.limit), (row) => first + (slots[row] ?? 0)),
        total: rows.length,
      };
    },
    async all(filter) {
      const {
        columns: { first, slots },
        rows,
      } = await matching(filter);
      return rows.map((row) => first + (slots[row] ?? 0));
    },
    count: async () => (await live.current()).count(),
    async perDay(filter, dayOf) {
      const days = createDays(dayOf);
      const {
        columns: { times },
        rows,
      } = await matching(filter);
      for (const row of rows) days.count(times[row] ?? 0);
      return days.counted;
    },
    index: (run) => indexConversations(database, run),
    async warmUp() {
      await live.current();
    },
  };
}

/** Counts by day. Caches the day of a quarter of an hour, because no day begins within one. */
function createDays(dayOf: (time: number) => string): {
  readonly counted: Map<string, number>;
  count(time: number): void;
} {
  const counted = new Map<string, number>();
  let [quarter, day] = [-1, ''];
  return {
    counted,
    count(time) {
      if (Math.floor(time / 900) !== quarter) [quarter, day] = [Math.floor(time / 900), dayOf(time * 1000)];
      counted.set(day, (counted.get(day) ?? 0) + 1);
    },
  };
}

/** Whether the filter has more than a text. */
function isNarrowed({ botId, userIds, from, to, feedback, guest, ids }: LogFilter): boolean {
  return [botId, userIds, from, to, feedback, guest, ids].some((value) => value !== undefined);
}

/** Without a filter, no entry needs to be checked. */
function pageOfAll(catalogue: Catalogue, { offset, limit }: LogPage): FoundLogs {
  const { first, slots, used, marks: flags } = catalogue.columns();
  const total = catalogue.count();
  const ids: number[] = [];
  // As many rows as conversations: no row is unused.
  const isDense = used === total;
  let skip = isDense ? 0 : offset;
  for (let row = isDense ? used - 1 - offset : used - 1; offset < total && row >= 0 && ids.length < limit; row--) {
    if (flags[row] === 0) continue;
    if (skip > 0) skip -= 1;
    else ids.push(first + (slots[row] ?? 0));
  }
  return { ids, total };
}
