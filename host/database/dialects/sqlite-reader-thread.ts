import BetterSqlite from 'better-sqlite3';
import { createReducer, resultOf, type ReductionTask } from './row-reducer.ts';

interface OfFile {
  readonly file: string;
}

export interface ReadTask extends OfFile {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Milliseconds. */
const busyTimeout = 5_000;

let connection: BetterSqlite.Database | undefined;

/** A thread reads one file only. */
function open({ file }: OfFile): BetterSqlite.Database {
  connection ??= new BetterSqlite(file, { readonly: true, timeout: busyTimeout });
  return connection;
}

/** Called in a worker thread. */
export function readNumbers({ sql, values, ...task }: ReadTask): Promise<unknown> {
  return resultOf(() =>
    (
      open(task)
        .prepare(sql)
        .raw()
        .all(...values) as number[][]
    ).flat(),
  );
}

/** Called in a worker thread. One row at a time is in memory. */
export function reduceRows({ sql, values, ...task }: ReductionTask & OfFile): Promise<unknown> {
  return resultOf(async () => {
    const reducer = await createReducer(task);
    const rows = open(task).prepare(sql).raw();
    for (const row of rows.iterate(...values) as IterableIterator<unknown[]>) reducer.add(row);
    return reducer.end();
  });
}
