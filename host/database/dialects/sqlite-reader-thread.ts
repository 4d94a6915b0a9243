import BetterSqlite from 'better-sqlite3';
import { move } from 'piscina';

export interface ReadTask {
  readonly file: string;
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Milliseconds. */
const busyTimeout = 5_000;

let connection: BetterSqlite.Database | undefined;

/** Errors of the driver lose their message on the way between threads. */
export type ReadResult = Float64Array | { readonly message: string; readonly code: string };

/** Called in a worker thread, which reads one file only. The numbers are moved, not copied. */
export function readNumbers({ file, sql, values }: ReadTask): unknown {
  try {
    connection ??= new BetterSqlite(file, { readonly: true, timeout: busyTimeout });
    const found = connection
      .prepare(sql)
      .raw()
      .all(...values) as number[][];
    return move(Float64Array.from(found.flat()));
  } catch (error) {
    const { message, code } = error as Error & { readonly code: string };
    return { message, code } satisfies ReadResult;
  }
}
