import type { CliCommand } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { automationsOf, type Automations } from '../automations.ts';
import type { Task } from '../tasks/task.ts';
import { findTask, idArgument, moment } from './find-task.ts';
import { itemCommands } from './item-commands.ts';

const taskFlag = {
  json: {
    type: 'object',
    description:
      'The task as JSON, as svc task get prints it: {"name", "type", "settings": {...}, "source": {"kind": "list", "items": [...]}, "schedule": "daily", "limits": {"run": 10}, ...}; update: with "id".',
  },
} as const;

/** `svc task list|types|get|create|update|delete|run|work|pause|resume|duplicate|items|retry|cancel`. */
export function taskCommands(context: ServiceContext): CliCommand[] {
  const automations = automationsOf(context);
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
      description: 'List the tasks with their items and next runs.',
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
      description: 'List the kinds of work there are, with their sources and settings.',
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
      description: 'Make a task and print it with its id. What is not named gets a default.',
      flags: taskFlag,
      run: async ({ flags }) => {
        const { id, ...given } = taskFrom(flags, 'create');
        if (id !== undefined)
          throw new Error('A new task gets its id from the service. To change one, use svc task update.');
        return tasks.create(given);
      },
    },
    {
      name: 'svc task update',
      description: 'Change the task that "id" names, and print it; what is not named stays.',
      flags: taskFlag,
      run: async ({ flags }) => {
        const { id, ...changes } = taskFrom(flags, 'update');
        if (id === undefined) throw new Error('Name the task to change: "id" in the object. See svc task list.');
        return tasks.update((await findTask(automations, id)).id, changes);
      },
    },
    {
      name: 'svc task duplicate',
      description: 'Make a paused copy of a task without its items, and print it.',
      args: [idArgument],
      run: async ({ args: [id] }) => tasks.duplicate((await findTask(automations, id)).id),
    },
    switching('paused', 'Pause a task: it collects nothing, and its items wait.'),
    switching('active', 'Resume a paused task.'),
    {
      name: 'svc task delete',
      description: 'Delete a task with its items. What it made stays.',
      args: [idArgument],
      flags: { yes: { type: 'boolean', description: 'really delete' } },
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
  const { runs, worker } = automations;
  return [
    {
      name: 'svc task run',
      description:
        'Queue what is new in the source of a task now. A running host works on it; with --work this command does.',
      args: [idArgument],
      flags: { work: { type: 'boolean', description: 'work on the queue until nothing is due' } },
      run: async ({ args: [id], flags }) => {
        const { state, found, added, message } = await runs.run((await findTask(automations, id)).id, 'command');
        if (state === 'failed') throw new Error(message);
        return { found, added, message, ...(flags['work'] === true && { attempts: await worker.drain() }) };
      },
    },
    {
      name: 'svc task work',
      description: 'Work on the queue of all active tasks until nothing is due.',
      run: async () => ({ attempts: await worker.drain() }),
    },
  ];
}

function taskFrom({ json }: Readonly<Record<string, unknown>>, command: string): Readonly<Record<string, unknown>> {
  if (typeof json === 'object' && json !== null) return json as Readonly<Record<string, unknown>>;
  throw new Error(
    `Write the task as JSON, for example: svc task ${command} --json '{${command === 'update' ? '"id": 1, ' : ''}"name": "Articles", "type": "content_writing", "source": {"kind": "list", "items": ["mountain coffee"]}}'`,
  );
}
