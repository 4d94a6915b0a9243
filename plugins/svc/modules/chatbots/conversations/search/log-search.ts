import type { DatabaseApi, HostApi, SqliteConnection } from '#plugin-api';
import { tables } from '../conversation-tables.ts';
import { indexConversations, type IndexRun } from './conversation-texts.ts';
import { selectTexts } from './find-texts.ts';
import { selectIds, selectMatching, selectPage, selectQuarters } from './log-query.ts';
import type { LogFilter, LogPage, Sql } from './log-query.ts';

export interface FoundLogs {
  /** Of the page, newest first. */
  readonly ids: readonly number[];
  /** All that match, counted. */
  readonly total: number;
}

/** The database answers each of them with one statement (D38). */
export interface LogSearch {
  find(filter: LogFilter, page: LogPage): Promise<FoundLogs>;
  /** Ids of all that match, newest first. */
  all(filter: LogFilter): Promise<ArrayLike<number>>;
  /** Whether there is no conversation. */
  isEmpty(): Promise<boolean>;
  /** Conversations per day of their last message. @param dayOf The day of a time in milliseconds. */
  perDay(filter: LogFilter, dayOf: (time: number) => string): Promise<ReadonlyMap<string, number>>;
  /** See indexConversations. */
  index(run?: IndexRun): Promise<number>;
}

export interface LogSearchParts {
  readonly host: Pick<HostApi, 'database'>;
}

/** SQLite reads the index of so many conversations in 2 ms; a thread may have to start first. */
const fewConversations = 20_000;

export function createLogSearch({ host: { database } }: LogSearchParts): LogSearch {
  /** The numbers that a statement about the conversations selects, row after row. */
  async function read(filter: LogFilter, select: (matching: Sql, hasText: boolean) => Sql): Promise<ArrayLike<number>> {
    const texts = await selectTexts(database, filter.text);
    const statement = select(selectMatching(database.dialect, filter, texts), texts !== null);
    return (texts === null ? await readFew(database, statement) : null) ?? readMany(database, statement);
  }

  return {
    async find(filter, page) {
      const numbers = await read(filter, (matching, hasText) => selectPage(matching, page, hasText));
      const ids = Array.from(numbers).filter((id, index) => index % 2 === 1 && id !== 0);
      return { ids, total: numbers[0] ?? 0 };
    },
    all: (filter) => read(filter, selectIds),
    isEmpty: async () => (await database.knex(tables.conversations).first('id')) === undefined,
    async perDay(filter, dayOf) {
      const days = new Map<string, number>();
      const numbers = await read(filter, selectQuarters);
      for (let index = 0; index < numbers.length; index += 2) {
        const day = dayOf((numbers[index] ?? 0) * 1000);
        days.set(day, (days.get(day) ?? 0) + (numbers[index + 1] ?? 0));
      }
      return days;
    },
    index: (run) => indexConversations(database, run),
  };
}

/** On SQLite, reads at once where few conversations can be; null elsewhere. */
async function readFew(
  database: Pick<DatabaseApi, 'dialect' | 'direct'>,
  { sql, values }: Sql,
): Promise<number[] | null> {
  if (database.dialect !== 'sqlite') return null;
  return database.direct<number[] | null>(
    {
      sqlite: ({ rows }) => (highest(rows) > fewConversations ? null : (rows(sql, ...values).flat() as number[])),
      postgresql: () => Promise.resolve(null),
    },
    { readOnly: true },
  );
}

/** No fewer than there are conversations. */
function highest(rows: SqliteConnection['rows']): number {
  const ends = rows(
    `SELECT (SELECT MAX(id) FROM ${tables.conversations}), (SELECT MIN(id) FROM ${tables.conversations})`,
  );
  return Number(ends[0]?.[0] ?? 0) - Number(ends[0]?.[1] ?? 0);
}

function readMany({ readNumbers }: Pick<DatabaseApi, 'readNumbers'>, { sql, values }: Sql): Promise<ArrayLike<number>> {
  let count = 0;
  return readNumbers({ sqlite: sql, postgresql: sql.replaceAll('?', () => `$${String(++count)}`) }, values);
}
