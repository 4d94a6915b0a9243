import type { CliCommand } from '#plugin-api';
import type { Automations } from '../automations.ts';
import { itemJob } from '../tables.ts';
import type { Task } from '../tasks/task.ts';
import type { ItemChoice } from '../queue/item-store.ts';
import { itemStates } from '../queue/item.ts';
import { unknownTask } from '../tasks/task-store.ts';

const idArgument = { name: 'id', description: 'Id of the task; see svc task list.' };

/** @throws Error if the task does not exist */
async function findTask({ tasks }: Pick<Automations, 'tasks'>, id: unknown): Promise<Task> {
  const task = /^[1-9]\d{0,9}$/.test(String(id)) ? await tasks.get(Number(id)) : null;
  if (task === null) throw new Error(`${unknownTask(id).message} See svc task list.`);
  return task;
}

function moment(time: number | null | undefined): string | null {
  return time === undefined || time === null ? null : new Date(time).toISOString();
}

const itemArguments = [
  idArgument,
  { name: 'items', description: 'Ids of items, see svc task items; or use --all.', optional: true, rest: true },
];
const allFlag = { all: { type: 'boolean', description: 'all items for which it is possible' } } as const;

/** `svc task items|retry|cancel`. */
function itemCommands(automations: Automations): CliCommand[] {
  const { items, costs } = automations;
  return [
    {
      name: 'svc task items',
      description: 'List items of a task, newest first.',
      args: [idArgument],
      flags: {
        state: { type: 'string', enum: itemStates, description: 'only items in this state' },
        limit: { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'number of items' },
        before: { type: 'integer', minimum: 1, description: 'only items below this id, for the next page' },
      },
      run: async ({ args: [id], flags }) => {
        const { state, limit, before } = flags as {
          readonly state?: (typeof itemStates)[number];
          readonly limit?: number;
          readonly before?: number;
        };
        const list = await items.list((await findTask(automations, id)).id, {
          limit: limit ?? 50,
          ...(state !== undefined && { state }),
          ...(before !== undefined && { before }),
        });
        const cost = await costs.ofItems(list);
        return list.map((item) => ({
          id: item.id,
          target: item.target,
          state: item.state,
          attempts: item.attempts,
          message: item.message,
          post: item.postId,
          cost: ((cost.get(item.id)?.cost ?? 0) / 1_000_000).toFixed(6),
          provider: item.ai?.provider ?? null,
          model: item.ai?.model ?? null,
          finished: moment(item.finishedAt),
        }));
      },
    },
    {
      name: 'svc task retry',
      description: 'Retry failed or cancelled items of a task.',
      args: itemArguments,
      flags: allFlag,
      run: async ({ args: [id, ...ids], flags }) => ({
        retried: await items.retry((await findTask(automations, id)).id, parseChoice(ids, flags)),
      }),
    },
    {
      name: 'svc task cancel',
      description: 'Cancel pending or processing items of a task.',
      args: itemArguments,
      flags: allFlag,
      run: async ({ args: [id, ...ids], flags }) => ({
        cancelled: await items.cancel((await findTask(automations, id)).id, parseChoice(ids, flags)),
      }),
    },
  ];
}

function parseChoice(ids: readonly string[], { all }: Readonly<Record<string, unknown>>): ItemChoice {
  if (all === true) return {};
  if (ids.length === 0) throw new Error('Pass the ids of the items, or --all.');
  const bad = ids.find((id) => !/^[1-9]\d{0,9}$/.test(id));
  if (bad !== undefined) throw new Error(`${bad} is not an item id. See svc task items.`);
  return { ids: ids.map(Number) };
}

const taskFlag = {
  json: {
    type: 'object',
    description:
      'The task as JSON, as svc task get prints it: {"name", "type", "settings": {...}, "source": {"kind": ' +
      '"list", "items": [...]}, "schedule": "daily", "limits": {"run": 10}, ...}; update: with "id".',
  },
} as const;

/** `svc task list|types|get|create|update|delete|run|work|pause|resume|duplicate|items|retry|cancel`. */
export function taskCommands(automations: Automations): CliCommand[] {
  return [
    ...readingCommands(automations),
    ...changingCommands(automations),
    ...runningCommands(automations),
    ...itemCommands(automations),
  ];
}

function readingCommands({ tasks, types, items, runs }: Automations): CliCommand[] {
  return [
    {
      name: 'svc task list',
      description: 'List tasks with their item counts and next runs.',
      run: async () => {
        const [all, counts, next, last] = await Promise.all([
          tasks.list(),
          items.allCounts(),
          tasks.nextRuns(),
          runs.last(),
        ]);
        return all.map(({ id, name, type, status, schedule }) => ({
          id,
          name,
          type,
          status,
          schedule: schedule || 'manual',
          next_run: moment(next.get(id)),
          last_run: moment(last.get(id)?.startedAt),
          ...(counts.get(id) ?? { pending: 0, processing: 0, completed: 0, failed: 0, cancelled: 0 }),
        }));
      },
    },
    {
      name: 'svc task types',
      description: 'List the task types with their sources and settings.',
      run: async () =>
        (await types.list()).map(({ id, label, sources, settings }) => ({
          id,
          label,
          sources: sources.join(', '),
          settings: Object.keys(settings.properties ?? {}).join(', '),
        })),
    },
    {
      name: 'svc task get',
      description: 'Print a task with all its settings.',
      args: [idArgument],
      run: async ({ args: [id] }) => findTask({ tasks }, id),
    },
  ];
}

function changingCommands(automations: Automations): CliCommand[] {
  const { tasks } = automations;
  const switching = (status: Task['status'], description: string): CliCommand => ({
    name: `svc task ${status === 'active' ? 'resume' : 'pause'}`,
    description,
    args: [idArgument],
    run: async ({ args: [id] }) => {
      const task = await tasks.update((await findTask(automations, id)).id, { status });
      return { id: task.id, status: task.status };
    },
  });
  return [
    {
      name: 'svc task create',
      description: 'Create a task and print it with its id. Missing members get defaults.',
      flags: taskFlag,
      run: async ({ flags }) => {
        const { id, ...given } = taskFrom(flags, 'create');
        if (id !== undefined) throw new Error('A new task cannot have an id. To change a task, use svc task update.');
        return tasks.create(given);
      },
    },
    {
      name: 'svc task update',
      description: 'Update the task with the given "id" and print it. Missing members keep their values.',
      flags: taskFlag,
      run: async ({ flags }) => {
        const { id, ...changes } = taskFrom(flags, 'update');
        if (id === undefined) throw new Error('The object needs the "id" of the task. See svc task list.');
        return tasks.update((await findTask(automations, id)).id, changes);
      },
    },
    {
      name: 'svc task duplicate',
      description: 'Create a paused copy of a task without its items, and print it.',
      args: [idArgument],
      run: async ({ args: [id] }) => tasks.duplicate((await findTask(automations, id)).id),
    },
    switching('paused', 'Pause a task: it queues nothing, and its items wait.'),
    switching('active', 'Resume a paused task.'),
    {
      name: 'svc task delete',
      description: 'Delete a task with its items. Posts and images that it created are kept.',
      args: [idArgument],
      flags: { yes: { type: 'boolean', description: 'confirm the deletion' } },
      run: async ({ args: [id], flags }) => {
        const task = await findTask(automations, id);
        if (flags['yes'] !== true)
          throw new Error(`Nothing was deleted. Add --yes to delete ${task.name} and its items.`);
        await tasks.delete(task.id);
        return { id: task.id, deleted: true };
      },
    },
  ];
}

function runningCommands(automations: Automations): CliCommand[] {
  const { runs, host } = automations;
  return [
    {
      name: 'svc task run',
      description: 'Queue new items of a task now. A running host processes them; with --work, this command does.',
      args: [idArgument],
      flags: { work: { type: 'boolean', description: 'process the queue until nothing is due' } },
      run: async ({ args: [id], flags }) => {
        const { state, found, added, message } = await runs.run((await findTask(automations, id)).id, 'command');
        if (state === 'failed') throw new Error(message);
        return { found, added, message, ...(flags['work'] === true && { attempts: await host.jobs.drain(itemJob) }) };
      },
    },
    {
      name: 'svc task work',
      description: 'Process the queue of all active tasks until nothing is due.',
      run: async () => ({ attempts: await host.jobs.drain(itemJob) }),
    },
  ];
}

function taskFrom({ json }: Readonly<Record<string, unknown>>, command: string): Readonly<Record<string, unknown>> {
  if (typeof json === 'object' && json !== null) return json as Readonly<Record<string, unknown>>;
  throw new Error(
    `Pass the task as JSON, for example: svc task ${command} --json '{${command === 'update' ? '"id": 1, ' : ''}"name": ` +
      `"Articles", "type": "content_writing", "source": {"kind": "list", "items": ["mountain coffee"]}}'`,
  );
}
