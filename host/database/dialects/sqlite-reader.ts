import type { Knex } from '#plugin-api';
import type { Dialect } from './dialect.ts';
import { createReaderThreads } from './reader-threads.ts';
import { createReducer, reductionTask, type ReductionTask } from './row-reducer.ts';
import type { ReadTask } from './sqlite-reader-thread.ts';

export interface SqliteReader extends Pick<Dialect, 'readNumbers' | 'reduceRows'> {
  /** Ends the threads. SELECTs in progress are rejected. */
  close(): Promise<void>;
}

/** Reads a SQLite file in worker threads, which start with the first SELECT. */
export function createSqliteReader(file: string): SqliteReader {
  const threads = createReaderThreads(new URL('./sqlite-reader-thread.ts', import.meta.url));
  return {
    readNumbers: ({ sqlite: sql }, values) => threads.run('readNumbers', { file, sql, values } satisfies ReadTask),
    reduceRows: ({ select, signal, ...reduction }) =>
      threads.run(
        'reduceRows',
        { ...reductionTask(reduction, select.sqlite), file } satisfies ReductionTask & Pick<ReadTask, 'file'>,
        signal,
      ),
    close: () => threads.close(),
  };
}

/** Reads a database in memory, which exists only in its connection: the rows are in memory already. */
export function createMemoryReader(direct: Dialect['direct']): SqliteReader {
  const readRows = async (
    sql: string,
    values: readonly (string | number)[],
    transaction: Knex.Transaction | null,
  ): Promise<readonly (readonly unknown[])[]> =>
    direct<readonly (readonly unknown[])[]>(
      { sqlite: ({ rows }) => rows(sql, ...values), postgresql: async () => [] },
      { transaction, durable: false, readOnly: true },
    );
  return {
    readNumbers: async ({ sqlite }, values, transaction) =>
      Float64Array.from((await readRows(sqlite, values, transaction)).flat(), Number),
    async reduceRows({ select, signal, ...reduction }) {
      signal?.throwIfAborted();
      const { sql, values, ...task } = reductionTask(reduction, select.sqlite);
      const reducer = await createReducer(task);
      for (const row of await readRows(sql, values, null)) reducer.add(row);
      return Float64Array.from(reducer.end());
    },
    close: async () => {},
  };
}
