import type { Piscina } from 'piscina';
import { threadArguments } from '../thread-arguments.ts';
import type { ReadResult, ReadTask } from './sqlite-reader-thread.ts';

/** Long SELECTs that run at once; others wait. */
const threads = 2;
/** Milliseconds without a SELECT after which a thread ends. */
const idleTimeout = 60_000;
const threadModule = new URL('./sqlite-reader-thread.ts', import.meta.url);

export interface SqliteReader {
  /** See DatabaseApi. */
  readNumbers(sql: string, values: readonly (string | number)[]): Promise<Float64Array>;
  /** Ends the threads. SELECTs in progress are rejected. */
  close(): Promise<void>;
}

/** Reads a SQLite file in worker threads, which start with the first SELECT. */
export function createSqliteReader(file: string): SqliteReader {
  let pool: Promise<Piscina> | null = null;
  return {
    async readNumbers(sql, values) {
      const task: ReadTask = { file, sql, values };
      const result = (await (await (pool ??= openPool())).run(task)) as ReadResult;
      if (result instanceof Float64Array) return result;
      throw Object.assign(new Error(result.message), { code: result.code });
    },
    async close() {
      await (await pool)?.destroy();
    },
  };
}

async function openPool(): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    filename: threadModule.href,
    name: 'readNumbers',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout,
    execArgv: threadArguments,
    env: {},
  });
}
