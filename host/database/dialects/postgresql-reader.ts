import { SHARE_ENV } from 'node:worker_threads';
import type { Dialect } from './dialect.ts';
import type { PostgresqlTask } from './postgresql-reader-thread.ts';
import { createReaderThreads } from './reader-threads.ts';
import { reductionTask } from './row-reducer.ts';

export interface PostgresqlReader extends Pick<Dialect, 'reduceRows'> {
  /** Ends the threads. SELECTs in progress are rejected. */
  close(): Promise<void>;
}

/** Reads in worker threads, each with a connection, which start with the first SELECT. Their driver reads variables such as PGSSLMODE. */
export function createPostgresqlReader(databaseUrl: string): PostgresqlReader {
  const threads = createReaderThreads(new URL('./postgresql-reader-thread.ts', import.meta.url), SHARE_ENV);
  return {
    reduceRows: ({ select, signal, ...reduction }) =>
      threads.run(
        'reduceRows',
        { ...reductionTask(reduction, select.postgresql), databaseUrl } satisfies PostgresqlTask,
        signal,
      ),
    close: () => threads.close(),
  };
}
