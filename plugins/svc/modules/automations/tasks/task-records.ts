import { type HostApi, type Knex, invalidFields, storedJson } from '#plugin-api';
import { type SettingErrors } from '../../../kit/field-errors.ts';
import { itemJob, runHook, taskTables } from '../tables.ts';
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

const taskRows = (knex: Knex): Knex.QueryBuilder<TaskRow, TaskRow[]> =>
  knex<TaskRow>(taskTables.tasks) as unknown as Knex.QueryBuilder<TaskRow, TaskRow[]>;

function toTask({ limit_run, limit_day, settings, source, ...row }: TaskRow): Task {
  return {
    ...row,
    settings: storedJson(settings) as Task['settings'],
    source: storedJson(source) as TaskSource,
    limits: { run: limit_run, day: limit_day },
    created_at: Number(row.created_at),
    updated_at: Number(row.updated_at),
  };
}

function toTaskRow({
  limits,
  settings,
  source,
  ...task
}: TaskSettings): Omit<TaskRow, 'id' | 'created_at' | 'updated_at'> {
  const { name, type, status, schedule, author_id, attempts } = task;
  return {
    ...{ name, type, status, schedule, author_id, attempts },
    settings: JSON.stringify(settings),
    source: JSON.stringify(source),
    limit_run: limits.run,
    limit_day: limits.day,
  };
}

/** Task rows and their cron events. Both change in one transaction. */
export interface TaskRecords {
  find(id: number): Promise<Task | null>;
  list(): Promise<Task[]>;
  /** @throws RestError 400 if the schedule is invalid; nothing is saved */
  insert(settings: TaskSettings): Promise<Task>;
  /** Null if the task changed since it was read. Throws like `insert`. */
  replace(before: Task, settings: TaskSettings): Promise<Task | null>;
  /** Moves cron expressions to the present time zone of the site (D44). Named schedules are intervals, which have none. */
  reschedule(): Promise<void>;
  /** Deletes the task with its items and runs, in the running transaction. */
  remove(id: number): Promise<void>;
}

export function createTaskRecords({
  database,
  clock,
  cron,
  jobs,
  site,
}: Pick<HostApi, 'database' | 'clock' | 'cron' | 'jobs' | 'site'>): TaskRecords {
  async function schedule({ id, schedule: when, status }: Task): Promise<void> {
    if (when === '') {
      await cron.unschedule(runHook, [id]);
      return;
    }
    const timeZone = isExpression(when) ? await site.timezone() : 'UTC';
    await cron.schedule(when, runHook, { args: [id], ...(timeZone !== 'UTC' && { timeZone }) });
    const stored = timeZone === 'UTC' ? when : `CRON_TZ=${timeZone} ${when}`;
    const isKnown = (await cron.list()).some(
      (event) => event.hook === runHook && event.args[0] === id && event.schedule === stored,
    );
    if (!isKnown) throw invalidFields(scheduleError(when));
    if (status === 'paused') await cron.unschedule(runHook, [id]);
  }

  const list = async (): Promise<Task[]> =>
    (await taskRows(database.knex).orderBy('name').orderBy('id')).map((row) => toTask(row as never));

  return {
    async find(id) {
      const row = await taskRows(database.knex).where({ id }).first();
      return row === undefined ? null : toTask(row as never);
    },
    list,
    async reschedule() {
      for (const task of await list())
        if (task.status === 'active' && isExpression(task.schedule)) await schedule(task);
    },
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
      const open = database.knex(taskTables.items).where({ task_id: id }).whereIn('state', ['pending', 'processing']);
      await jobs.cancel({ name: itemJob, keys: ((await open.pluck('id')) as number[]).map(String) });
      for (const table of [taskTables.items, taskTables.runs])
        await database.knex(table).where({ task_id: id }).delete();
      await database.knex(taskTables.tasks).where({ id }).delete();
      await cron.unschedule(runHook, [id]);
    },
  };
}

/** Of five fields or more. Others are names. */
function isExpression(schedule: string): boolean {
  return schedule.trim().includes(' ');
}

function scheduleError(schedule: string): SettingErrors {
  return {
    schedule:
      `'${schedule}' is not a schedule. Use hourly, twicedaily, daily, weekly, or a cron expression such ` +
      'as 30 6 * * 1 (Mondays at 6:30).',
  };
}
