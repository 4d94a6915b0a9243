import { RestError, type HostApi } from '#plugin-api';
import { invalidFields } from '../../../settings/invalid-fields.ts';
import '../hooks.ts';
import { runHook, taskTables } from '../tables.ts';
import { fillDefaults, isMembers, type Faults } from './settings-schema.ts';
import { taskFaults } from './task-faults.ts';
import { taskRows, toTask, toTaskRow } from './task-rows.ts';
import type { TaskTypes } from './task-types.ts';
import type { Task, TaskSettings, TaskStore } from './task.ts';

export interface TaskStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks' | 'cron' | 'users' | 'content' | 'http'>;
  readonly types: TaskTypes;
  /** Items of the task may be begun, or must be given up. */
  readonly changed: (taskId: number) => void;
}

type Members = Readonly<Record<string, unknown>>;

export const defaults = { status: 'active', schedule: '', author_id: 0, limits: { run: 0, day: 0 }, attempts: 3, settings: {} } as const;
const sourceDefaults: Readonly<Record<string, Members>> = { posts: { post_type: 'post', status: 'publish', category: '', search: '', changed_since: '', again: false } };
const readOnly = ['id', 'created_at', 'updated_at', 'next_run'];

/** The tasks, a row each, and their events of cron. No change is lost where two are made at once; every node sees them with its next look. */
export function createTaskStore({ host, types, changed }: TaskStoreParts): TaskStore {
  const { database, hooks, cron, clock } = host;

  async function find(id: number): Promise<Task | null> {
    const row = await taskRows(database.knex).where({ id }).first();
    return row === undefined ? null : toTask(row as never);
  }

  async function checked(given: Members): Promise<TaskSettings> {
    const task = complete(given, await types.list());
    const faults = await taskFaults(task, { types: await types.list(), host });
    if (Object.keys(faults).length > 0) throw invalidFields(faults);
    return tidy(task as unknown as TaskSettings);
  }

  /** In the transaction that saves the task: one whose schedule cron does not know is not saved. */
  async function schedule({ id, schedule: when, status }: Task): Promise<void> {
    if (when === '') {
      await cron.unschedule(runHook, [id]);
      return;
    }
    await cron.schedule(when, runHook, { args: [id] });
    if ((await cron.list()).every((event) => event.hook !== runHook || event.args[0] !== id || event.schedule !== when)) throw invalidFields(scheduleFault(when));
    if (status === 'paused') await cron.unschedule(runHook, [id]);
  }

  async function insert(settings: TaskSettings): Promise<Task> {
    const now = clock.now();
    const [row] = (await database.knex(taskTables.tasks).insert({ ...toTaskRow(settings), created_at: now, updated_at: now }).returning('*')) as never[];
    const task = toTask(row as never);
    await schedule(task);
    return task;
  }

  /** Null: somebody else changed it meanwhile. What takes time, such as the checks of plugins, is done before the transaction. */
  async function replace({ id, updated_at: before }: Task, settings: TaskSettings): Promise<Task | null> {
    const updated_at = Math.max(clock.now(), before + 1);
    const [row] = (await database.knex(taskTables.tasks).where({ id, updated_at: before }).update({ ...toTaskRow(settings), updated_at }).returning('*')) as never[];
    if (row === undefined) return null;
    const task = toTask(row);
    await schedule(task);
    return task;
  }

  /** Switching asks nobody: a task whose plugin is gone can still be paused. */
  async function merged(before: Task, changes: Members): Promise<TaskSettings> {
    const { status } = changes;
    if (Object.keys(changes).join() === 'status' && (status === 'active' || status === 'paused')) return { ...before, status };
    return checked({ ...without(before), ...changes });
  }

  async function announce(task: Task, before: Task | null): Promise<void> {
    changed(task.id);
    await hooks.doActionAsync('svc_automation_task_saved', task, before);
  }

  return {
    get: (id) => find(id),
    list: async () => (await taskRows(database.knex).orderBy('name').orderBy('id')).map((row) => toTask(row as never)),
    async create(given) {
      const settings = await checked(without(given));
      const task = await database.transaction(() => insert(settings));
      await announce(task, null);
      return task;
    },
    async update(id, changes) {
      for (;;) {
        const before = await find(id);
        if (before === null) throw unknownTask(id);
        const settings = await merged(before, without(changes));
        const task = await database.transaction(() => replace(before, settings));
        if (task === null) continue;
        await announce(task, before);
        return task;
      }
    },
    async duplicate(id) {
      const found = await find(id);
      if (found === null) throw unknownTask(id);
      const settings = await checked({ ...without(found), name: `${[...found.name].slice(0, 190).join('')} (copy)`, status: 'paused' });
      const task = await database.transaction(() => insert(settings));
      await announce(task, null);
      return task;
    },
    async delete(id) {
      const task = await database.transaction(async (transaction) => {
        const found = await find(id);
        if (found === null) return null;
        await transaction(taskTables.items).where({ task_id: id }).delete();
        await transaction(taskTables.runs).where({ task_id: id }).delete();
        await transaction(taskTables.tasks).where({ id }).delete();
        await cron.unschedule(runHook, [id]);
        return found;
      });
      if (task === null) return false;
      changed(id);
      await hooks.doActionAsync('svc_automation_task_deleted', task);
      return true;
    },
    nextRuns: async () => new Map((await cron.list()).filter(({ hook }) => hook === runHook).map(({ args, nextRun }) => [Number(args[0]), nextRun])),
  };
}

export function unknownTask(id: unknown): RestError {
  return new RestError({ code: 'rest_svc_task_not_found', status: 404, message: `There is no task with the id ${String(id)}. It may have been deleted.` });
}

function scheduleFault(schedule: string): Faults {
  return { schedule: `'${schedule}' is no schedule: use hourly, twicedaily, daily, weekly, or a cron expression in UTC such as 30 6 * * 1 (Mondays at 6:30).` };
}

function without(given: unknown): Members {
  if (!isMembers(given)) throw invalidFields({ '': 'A task is an object of settings.' });
  return Object.fromEntries(Object.entries(given).filter(([name]) => !readOnly.includes(name)));
}

function complete(given: Members, types: Awaited<ReturnType<TaskTypes['list']>>): Members {
  const type = types.find(({ id }) => id === given['type']);
  const settings = type ? fillDefaults(type.settings, given['settings'] ?? {}) : (given['settings'] ?? {});
  const source = isMembers(given['source']) ? { ...sourceDefaults[String(given['source']['kind'])], ...given['source'] } : given['source'];
  const limits = isMembers(given['limits']) ? { ...defaults.limits, ...given['limits'] } : (given['limits'] ?? defaults.limits);
  return { name: type?.label, ...defaults, ...given, settings, source, limits };
}

/** As it is stored: without blanks that say nothing. */
function tidy(task: TaskSettings): TaskSettings {
  const { source } = task;
  const tidied = source.kind === 'list' ? { ...source, items: source.items.map((item) => item.trim()).filter((item) => item !== '') } : source;
  return { ...task, name: task.name.trim(), schedule: task.schedule.trim(), source: tidied };
}
