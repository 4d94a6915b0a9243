import { withoutUndefined } from '#plugin-api';
import type { CliCommand } from '#plugin-api';
import { plainDollars } from '../../../kit/dollars.ts';
import { namedRecord, recordCommands, type NamedRecord } from '../../../kit/record-commands.ts';
import type { Automations } from '../automations.ts';
import { itemJob } from '../tables.ts';
import type { Task } from '../tasks/task.ts';
import type { ItemChoice } from '../queue/item-store.ts';
import { itemStates } from '../queue/item.ts';
import type { Cost } from '../../../kit/format-cost.ts';

const command = { command: 'svc task', noun: 'task' };

function moment(time: number | null | undefined): string | null {
  return time === undefined || time === null ? null : new Date(time).toISOString();
}

const itemsArgument = {
  name: 'items',
  description: 'Ids of items, see svc task items; or use --all.',
  optional: true,
  rest: true,
};

/** `svc task items|retry|cancel`. */
function itemCommands({ items, costs }: Automations, { idArgument, find }: NamedRecord<Task>): CliCommand[] {
  const choice = {
    args: [idArgument, itemsArgument],
    flags: { all: { type: 'boolean', description: 'all items for which it is possible' } },
  } as const;
  const readChoice = async ({ args: [id, ...ids], flags }: Parameters<CliCommand['run']>[0]) =>
    [(await find(id)).id, parseChoice(ids, flags)] as const;
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
          readonly limit: number;
          readonly before?: number;
        };
        const list = await items.list((await find(id)).id, {
          limit,
          ...withoutUndefined({ state, before }),
        });
        const cost = await costs.ofItems(list);
        return list.map((item) => ({
          id: item.id,
          target: item.target,
          state: item.state,
          attempts: item.attempts,
          message: item.message,
          post: item.postId,
          ...costFields(cost.get(item.id)),
          provider: item.ai?.provider ?? null,
          model: item.ai?.model ?? null,
          finished: moment(item.finishedAt),
        }));
      },
    },
    {
      ...choice,
      name: 'svc task retry',
      description: 'Retry failed or cancelled items of a task.',
      run: async (call) => ({ retried: await items.retry(...(await readChoice(call))) }),
    },
    {
      ...choice,
      name: 'svc task cancel',
      description: 'Cancel pending or processing items of a task.',
      run: async (call) => ({ cancelled: await items.cancel(...(await readChoice(call))) }),
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

/** `svc task list|types|get|create|update|delete|run|work|pause|resume|duplicate|items|retry|cancel`. */
export function taskCommands(automations: Automations): CliCommand[] {
  const { tasks } = automations;
  const named = namedRecord({ ...command, store: tasks });
  return [
    ...recordCommands({
      ...command,
      store: tasks,
      descriptions: {
        list: 'List tasks with their item counts and next runs.',
        get: 'Print a task with all its settings.',
        create: 'Create a task and print it with its id. Missing members get defaults.',
        update: 'Update the task with the given "id" and print it. Missing members keep their values.',
        duplicate: 'Create a paused copy of a task without its items, and print it.',
        delete: 'Delete a task with its items. Posts and images that it created are kept.',
      },
      list: () => listTasks(automations),
      json: {
        description:
          'The task as JSON, as svc task get prints it: {"name", "type", "settings": {...}, "source": {"kind": ' +
          '"list", "items": [...]}, "schedule": "daily", "limits": {"run": 10}, ...}; update: with "id".',
        example:
          '{"name": "Articles", "type": "content_writing", "source": {"kind": "list", "items": ["mountain coffee"]}}',
        ignored: [],
      },
      confirm: ({ name }) => `${name} and its items`,
    }),
    ...runningCommands(automations, named),
    ...itemCommands(automations, named),
  ];
}

/** What `svc task list` prints. */
export async function listTasks({ tasks, items, runs }: Automations): Promise<unknown> {
  const [all, counts, next, last] = await Promise.all([tasks.list(), items.allCounts(), tasks.nextRuns(), runs.last()]);
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
}

function runningCommands(
  { tasks, types, runs, host }: Automations,
  { idArgument, find }: NamedRecord<Task>,
): CliCommand[] {
  const switching = (status: Task['status'], description: string): CliCommand => ({
    name: `svc task ${status === 'active' ? 'resume' : 'pause'}`,
    description,
    args: [idArgument],
    run: async ({ args: [id] }) => {
      const task = await tasks.update((await find(id)).id, { status });
      return { id: task.id, status: task.status };
    },
  });
  return [
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
    switching('paused', 'Pause a task: it queues nothing, and its items wait.'),
    switching('active', 'Resume a paused task.'),
    {
      name: 'svc task run',
      description: 'Queue new items of a task now. A running host processes them; with --work, this command does.',
      args: [idArgument],
      flags: { work: { type: 'boolean', description: 'process the queue until nothing is due' } },
      run: async ({ args: [id], flags }) => {
        const { state, found, added, message } = await runs.run((await find(id)).id, 'command');
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

/** `cost` in dollars, without the calls that have no price; null if none has one: an unknown price is never shown as 0. */
function costFields({ cost, calls, unpriced }: Cost = { cost: 0, calls: 0, unpriced: 0 }) {
  const isUnknown = calls > 0 && unpriced >= calls;
  return { cost: isUnknown ? null : plainDollars(cost), unpriced_calls: unpriced };
}
