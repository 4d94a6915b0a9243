import { fillDefaults, isRecord, RestError, type HostApi, invalidFields } from '#plugin-api';
import '../hooks.ts';
import { runHook } from '../tables.ts';
import { taskErrors } from './task-errors.ts';
import { createTaskRecords } from './task-records.ts';
import type { TaskTypes } from './task-types.ts';
import type { Task, TaskSettings, TaskStore } from './task.ts';

export interface TaskStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks' | 'cron' | 'users' | 'content' | 'http' | 'jobs'>;
  readonly types: TaskTypes;
  /** Called after a change of an active task: items may have waited for it. */
  readonly onChange: (taskId: number) => Promise<void>;
}

type Members = Readonly<Record<string, unknown>>;

export const defaults = {
  status: 'active',
  schedule: '',
  author_id: 0,
  limits: { run: 0, day: 0 },
  attempts: 3,
  settings: {},
} as const;
const sourceDefaults: Readonly<Record<string, Members>> = {
  posts: { post_type: 'post', status: 'publish', category: '', search: '', changed_since: '', again: false },
};
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
        name: `${[...found.name].slice(0, 190).join('')} (copy)`,
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
  return new RestError({
    code: 'rest_svc_task_not_found',
    status: 404,
    message: `There is no task with the id ${String(id)}. It may have been deleted.`,
  });
}

function withoutReadOnly(given: unknown): Members {
  if (!isRecord(given)) throw invalidFields({ '': 'A task must be an object.' });
  return Object.fromEntries(Object.entries(given).filter(([name]) => !readOnly.includes(name)));
}

async function complete(given: Members, types: Awaited<ReturnType<TaskTypes['list']>>): Promise<Members> {
  const type = types.find(({ id }) => id === given['type']);
  const filled = type ? fillDefaults(type.settings, given['settings'] ?? {}) : (given['settings'] ?? {});
  const settings = type?.normalize && isRecord(filled) ? await type.normalize(filled) : filled;
  const source = isRecord(given['source'])
    ? { ...sourceDefaults[String(given['source']['kind'])], ...given['source'] }
    : given['source'];
  const limits = isRecord(given['limits'])
    ? { ...defaults.limits, ...given['limits'] }
    : (given['limits'] ?? defaults.limits);
  return { name: type?.label, ...defaults, ...given, settings, source, limits };
}

/** Trims names, schedules and list items. */
function normalize(task: TaskSettings): TaskSettings {
  const { source } = task;
  const trimmed =
    source.kind === 'list'
      ? { ...source, items: source.items.map((item) => item.trim()).filter((item) => item !== '') }
      : source;
  return { ...task, name: task.name.trim(), schedule: task.schedule.trim(), source: trimmed };
}
