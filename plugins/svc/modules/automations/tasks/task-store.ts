import {
  fillDefaults,
  isRecord,
  restError,
  type RestError,
  type HostApi,
  invalidFields,
  translateText,
} from '#plugin-api';
import '../hooks.ts';
import { runHook } from '../tables.ts';
import { taskErrors } from './task-errors.ts';
import { sourceSchema, taskSchema } from './task.ts';
import { createTaskRecords } from './task-records.ts';
import type { TaskTypes } from './task-types.ts';
import type { Task, TaskSettings, TaskStore } from './task.ts';

export interface TaskStoreParts {
  readonly host: Pick<
    HostApi,
    'database' | 'clock' | 'hooks' | 'cron' | 'users' | 'content' | 'http' | 'jobs' | 'site'
  >;
  readonly types: TaskTypes;
  /** Called after a change of an active task: items may have waited for it. */
  readonly onChange: (taskId: number) => Promise<void>;
}

type Members = Readonly<Record<string, unknown>>;

const readOnly = ['id', 'created_at', 'updated_at', 'next_run'];

/** Stores tasks and their cron events. Concurrent changes are merged: no change is lost. */
export function createTaskStore({ host, types, onChange }: TaskStoreParts): TaskStore {
  const { database, hooks, cron } = host;
  const records = createTaskRecords(host);

  async function validated(given: Members): Promise<TaskSettings> {
    const known = await types.list();
    const task = await complete(given, known);
    const errors = await taskErrors(task, { types: known, host });
    if (Object.keys(errors).length > 0) throw invalidFields(errors);
    return normalize(task as unknown as TaskSettings);
  }

  /** A change of the status alone is not validated: a task whose plugin is inactive can still be paused. */
  async function merged(before: Task, changes: Members): Promise<TaskSettings> {
    const { status } = changes;
    if (Object.keys(changes).join() === 'status' && (status === 'active' || status === 'paused'))
      return { ...before, status };
    return validated({ ...withoutReadOnly(before), ...changes });
  }

  async function announce(task: Task, before: Task | null): Promise<Task> {
    if (before !== null && task.status === 'active') await onChange(task.id);
    await hooks.doActionAsync('svc_automation_task_saved', task, before);
    return task;
  }

  async function known(id: number): Promise<Task> {
    const found = await records.find(id);
    if (found === null) throw unknownTask(id);
    return found;
  }

  return {
    get: records.find,
    list: records.list,
    reschedule: records.reschedule,
    create: async (given) => announce(await records.insert(await validated(withoutReadOnly(given))), null),
    async update(id, changes) {
      for (;;) {
        const before = await known(id);
        // Validation by plugins may be slow, so it runs before the transaction.
        const task = await records.replace(before, await merged(before, withoutReadOnly(changes)));
        if (task !== null) return announce(task, before);
      }
    },
    async duplicate(id) {
      const found = await known(id);
      const settings = await validated({
        ...withoutReadOnly(found),
        name: `${[...found.name].slice(0, 190).join('')} ${translateText('(copy)')}`,
        status: 'paused',
      });
      return announce(await records.insert(settings), null);
    },
    async delete(id) {
      const task = await database.transaction(async () => {
        const found = await records.find(id);
        if (found !== null) await records.remove(id);
        return found;
      });
      if (task === null) return false;
      await hooks.doActionAsync('svc_automation_task_deleted', task);
      return true;
    },
    nextRuns: async () =>
      new Map(
        (await cron.list())
          .filter(({ hook }) => hook === runHook)
          .map(({ args, nextRun }) => [Number(args[0]), nextRun]),
      ),
  };
}

export function unknownTask(id: unknown): RestError {
  return restError(
    404,
    'rest_svc_task_not_found',
    `There is no automation with the id ${String(id)}. It may have been deleted.`,
  );
}

function withoutReadOnly(given: unknown): Members {
  if (!isRecord(given)) throw invalidFields({ '': 'A task must be an object.' });
  return Object.fromEntries(Object.entries(given).filter(([name]) => !readOnly.includes(name)));
}

async function complete(given: Members, types: Awaited<ReturnType<TaskTypes['list']>>): Promise<Members> {
  const type = types.find(({ id }) => id === given['type']);
  const task = fillDefaults(taskSchema, { name: type?.label, ...given }) as Members;
  const filled = type ? fillDefaults(type.settings, task['settings']) : task['settings'];
  const settings = type?.normalize && isRecord(filled) ? await type.normalize(filled) : filled;
  const source = isRecord(task['source']) ? trimLines(task['source']) : task['source'];
  return { ...task, settings, source };
}

/** With the defaults of its kind, and without blank lines. */
function trimLines(source: Members): unknown {
  const { items } = source;
  const isList = Array.isArray(items) && items.every((item) => typeof item === 'string');
  const trimmed = isList
    ? { ...source, items: items.map((item) => item.trim()).filter((item) => item !== '') }
    : source;
  const schema = sourceSchema(source['kind']);
  return schema ? fillDefaults(schema, trimmed) : trimmed;
}

/** Trims names and schedules. */
function normalize(task: TaskSettings): TaskSettings {
  return { ...task, name: task.name.trim(), schedule: task.schedule.trim() };
}
