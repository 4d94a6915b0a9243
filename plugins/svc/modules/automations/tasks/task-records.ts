import type { HostApi } from '#plugin-api';
import { invalidFields } from '../../../kit/field-errors.ts';
import { runHook, taskTables } from '../tables.ts';
import type { SettingErrors } from './settings-schema.ts';
import { taskRows, toTask, toTaskRow } from './task-rows.ts';
import type { Task, TaskSettings } from './task.ts';

/** Rows of tasks, each with its event of cron: both change in one transaction. */
export interface TaskRecords {
  find(id: number): Promise<Task | null>;
  list(): Promise<Task[]>;
  /** Throws RestError 400 where cron does not know the schedule: then nothing is saved. */
  insert(settings: TaskSettings): Promise<Task>;
  /** Null: somebody else changed it since it was read. Throws like `insert`. */
  replace(before: Task, settings: TaskSettings): Promise<Task | null>;
  /** With items and runs; in the running transaction. */
  remove(id: number): Promise<void>;
}

export function createTaskRecords({
  database,
  clock,
  cron,
}: Pick<HostApi, 'database' | 'clock' | 'cron'>): TaskRecords {
  async function schedule({ id, schedule: when, status }: Task): Promise<void> {
    if (when === '') {
      await cron.unschedule(runHook, [id]);
      return;
    }
    await cron.schedule(when, runHook, { args: [id] });
    const isKnown = (await cron.list()).some(
      (event) => event.hook === runHook && event.args[0] === id && event.schedule === when,
    );
    if (!isKnown) throw invalidFields(scheduleError(when));
    if (status === 'paused') await cron.unschedule(runHook, [id]);
  }

  return {
    async find(id) {
      const row = await taskRows(database.knex).where({ id }).first();
      return row === undefined ? null : toTask(row as never);
    },
    list: async () => (await taskRows(database.knex).orderBy('name').orderBy('id')).map((row) => toTask(row as never)),
    insert: (settings) =>
      database.transaction(async () => {
        const now = clock.now();
        const [row] = (await database
          .knex(taskTables.tasks)
          .insert({ ...toTaskRow(settings), created_at: now, updated_at: now })
          .returning('*')) as never[];
        const task = toTask(row as never);
        await schedule(task);
        return task;
      }),
    replace: ({ id, updated_at: before }, settings) =>
      database.transaction(async () => {
        const updated_at = Math.max(clock.now(), before + 1);
        const [row] = (await database
          .knex(taskTables.tasks)
          .where({ id, updated_at: before })
          .update({ ...toTaskRow(settings), updated_at })
          .returning('*')) as never[];
        if (row === undefined) return null;
        const task = toTask(row);
        await schedule(task);
        return task;
      }),
    async remove(id) {
      for (const table of [taskTables.items, taskTables.runs])
        await database.knex(table).where({ task_id: id }).delete();
      await database.knex(taskTables.tasks).where({ id }).delete();
      await cron.unschedule(runHook, [id]);
    },
  };
}

function scheduleError(schedule: string): SettingErrors {
  return {
    schedule: `'${schedule}' is no schedule: use hourly, twicedaily, daily, weekly, or a cron expression in UTC such as 30 6 * * 1 (Mondays at 6:30).`,
  };
}
