import type { JsonValue, Knex, Migration } from '#plugin-api';
import type { ReadState } from './submissions/read-states.ts';

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

/** The minimum match of assistants with the former default becomes the new default: off (D53). Another value stays. */
export async function dropDefaultMinimumMatch(knex: Knex, table: string): Promise<void> {
  const rows = (await knex(table).select('id', 'settings').where('settings', 'like', '%"min_score":20%')) as {
    readonly id: number;
    readonly settings: string;
  }[];
  for (const { id, settings } of rows) {
    const value = JSON.parse(settings) as { readonly knowledge?: { readonly min_score?: unknown } };
    if (value.knowledge?.min_score !== 20) continue;
    const changed = { ...value, knowledge: { ...value.knowledge, min_score: 0 } };
    await knex(table)
      .where({ id })
      .update({ settings: JSON.stringify(changed) });
  }
}

/** Adds what readers did with submissions to a table. Existing submissions count as read, so that no row is written. */
export async function addReadState(
  knex: Knex,
  { table, owner }: { readonly table: string; readonly owner: string },
): Promise<void> {
  await knex.schema.alterTable(table, (columns) => {
    columns
      .string('read_state', 10)
      .notNullable()
      .defaultTo('read' satisfies ReadState);
    columns.index(['read_state', owner, 'id']);
  });
}
