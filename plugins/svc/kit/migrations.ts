import type { JsonValue, Knex, Migration } from '#plugin-api';

/** A migration that creates tables, by name, in this order. */
export function createTables(
  id: string,
  tables: Readonly<Record<string, (columns: Knex.CreateTableBuilder) => void>>,
): Migration {
  return {
    id,
    async up(knex) {
      for (const [name, addColumns] of Object.entries(tables)) await knex.schema.createTable(name, addColumns);
    },
  };
}

/** Work of an earlier version. */
export interface EarlierJob {
  readonly key: string;
  readonly args: JsonValue;
  /** Whether a process had begun it. */
  readonly isRunning: boolean;
  /** When it is due, or the lease of its process ends. Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** Adds work of an earlier version to the jobs of the host, in the migration that drops the columns of its lease. */
export async function insertJobs(knex: Knex, name: string, earlier: readonly EarlierJob[]): Promise<void> {
  for (const { key, args, isRunning, dueAt } of earlier)
    await knex('jobs').insert({
      owner: 'svc',
      name,
      job_key: key,
      args: JSON.stringify(args),
      state: isRunning ? 'running' : 'waiting',
      priority: 10,
      token: isRunning ? 1 : 0,
      attempts: isRunning ? 1 : 0,
      due_at: dueAt,
      created_at: dueAt,
      started_at: isRunning ? dueAt : null,
    });
}
