import type { Knex } from '#plugin-api';
import { taskTables } from '../tables.ts';
import type { Task, TaskSettings, TaskSource, TaskStatus } from './task.ts';

interface TaskRow {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly status: TaskStatus;
  readonly settings: string;
  readonly source: string;
  readonly schedule: string;
  readonly author_id: number;
  readonly limit_run: number;
  readonly limit_day: number;
  readonly attempts: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export const taskRows = (knex: Knex): Knex.QueryBuilder<TaskRow, TaskRow[]> =>
  knex<TaskRow>(taskTables.tasks) as unknown as Knex.QueryBuilder<TaskRow, TaskRow[]>;

export function toTask({ limit_run, limit_day, settings, source, ...row }: TaskRow): Task {
  return {
    ...row,
    settings: JSON.parse(settings) as Task['settings'],
    source: JSON.parse(source) as TaskSource,
    limits: { run: limit_run, day: limit_day },
    created_at: Number(row.created_at),
    updated_at: Number(row.updated_at),
  };
}

export function toTaskRow({
  limits,
  settings,
  source,
  name,
  type,
  status,
  schedule,
  author_id,
  attempts,
}: TaskSettings): Omit<TaskRow, 'id' | 'created_at' | 'updated_at'> {
  return {
    name,
    type,
    status,
    schedule,
    author_id,
    attempts,
    settings: JSON.stringify(settings),
    source: JSON.stringify(source),
    limit_run: limits.run,
    limit_day: limits.day,
  };
}
