import { formatCount, withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import { changeSeveral, recordRow } from '../../../admin-ui/record-actions.ts';
import { recordList } from '../../../admin-ui/record-list.ts';
import type { Automations } from '../automations.ts';
import { taskActions } from './task-actions.ts';
import { tasksSlug, taskEditSlug, taskSlug } from './task-slugs.ts';
import type { ItemCounts } from '../queue/item.ts';
import type { Run } from '../runs/run-store.ts';
import { maxConcurrency } from '../settings.ts';
import type { Task } from '../tasks/task.ts';
import { summarizeProgress, runMessage, scheduleLabel, taskBadge, taskStates } from './task-labels.ts';

const none: ItemCounts = { pending: 0, processing: 0, completed: 0, failed: 0, cancelled: 0 };

/** The data of `svc/automations`. */
async function tasksView(
  automations: Automations,
  request: Pick<AdminRequest, 'query'>,
  typed?: { readonly concurrency: string; readonly error: string | undefined },
): Promise<Record<string, unknown>> {
  const { host, tasks, items, runs, types, settings } = automations;
  // First: the stamp of the page must not be newer than what it shows.
  const counts = await items.allCounts();
  const [all, next, last, kinds, { concurrency }] = await Promise.all([
    tasks.list(),
    tasks.nextRuns(),
    runs.last(),
    types.list(),
    settings.read(),
  ]);
  const labels = new Map(kinds.map(({ id, label }) => [id, label]));
  const busy = [...counts.values()].reduce((sum, { pending, processing }) => sum + pending + processing, 0);
  const list = taskList(request, { tasks: all, next, last });
  return {
    total: all.length,
    ...list,
    tasks: list.rows.map((task) => ({
      ...taskRow(task, { counts: counts.get(task.id) ?? none, last: last.get(task.id) }),
      type: labels.get(task.type) ?? task.type,
      typeIsGone: !labels.has(task.type),
      next: next.get(task.id),
      href: `${host.admin.url(taskSlug)}?id=${String(task.id)}`,
      editHref: `${host.admin.url(taskEditSlug)}?id=${String(task.id)}`,
    })),
    newHref: host.admin.url(taskEditSlug),
    hasTypes: kinds.length > 0,
    pluginsHref: host.admin.url('plugins'),
    stamp: listStamp(counts),
    busy,
    concurrency: typed?.concurrency ?? concurrency,
    concurrencyError: typed?.error,
    maxConcurrency,
  };
}

/** The shown tasks, by search, state, sorting and page. */
function taskList(
  request: Pick<AdminRequest, 'query'>,
  {
    tasks,
    next,
    last,
  }: {
    readonly tasks: readonly Task[];
    readonly next: ReadonlyMap<number, number>;
    readonly last: ReadonlyMap<number, Run>;
  },
) {
  return recordList(request, {
    items: tasks,
    states: taskStates,
    words: () => [],
    sortedBy: 'name',
    columns: [
      { label: 'Name', key: 'name' },
      { label: 'Status' },
      { label: 'Items' },
      { label: 'Next run', key: 'next' },
      { label: 'Last run', key: 'last' },
    ],
    values: ({ id }) => ({ next: next.get(id) ?? null, last: last.get(id)?.startedAt ?? null }),
    count: (count) => formatCount(count, 'automation'),
    question: 'Delete the selected automations and their items? Posts and images that they created are kept.',
  });
}

function taskRow(
  task: Task,
  { counts, last }: { readonly counts: ItemCounts; readonly last: Run | undefined },
): Record<string, unknown> {
  return {
    ...recordRow(task, 'paused'),
    badge: taskBadge(task.status),
    isActive: task.status === 'active',
    schedule: scheduleLabel(task.schedule),
    progress: summarizeProgress(counts),
    last: last && { at: last.startedAt, text: runMessage(last), failed: last.state === 'failed' },
  };
}

/** Changes with every count in the list. */
function listStamp(counts: ReadonlyMap<number, ItemCounts>): string {
  return [...counts]
    .map(([id, { pending, processing, completed, failed, cancelled }]) =>
      [id, pending, processing, completed, failed, cancelled].join('.'),
    )
    .join(' ');
}

const template = 'svc/automations';

/** The list of tasks with their progress, next runs and actions. */
export function createPage(automations: Automations): AdminPageBody {
  return {
    render: async (request) => ({ template, data: await tasksView(automations, request) }),
    actions: {
      ...taskActions(automations, () => tasksSlug),
      bulk: (request) => changeSeveral(bulkInit(automations), request, 'paused'),
      settings: (request) => saveSettings(automations, request),
      live: async () => ({
        readOnly: true,
        data: { stamp: listStamp(await automations.items.allCounts()), busy: true },
      }),
    },
  };
}

function bulkInit({ tasks }: Automations): Parameters<typeof changeSeveral<'paused', Task>>[0] {
  return {
    store: tasks,
    listSlug: tasksSlug,
    texts: {
      count: (count) => formatCount(count, 'automation'),
      deleted: (name) => `${name} deleted. Posts and images are kept.`,
    },
  };
}

function saveSettings(automations: Automations, request: AdminRequest): Promise<AdminActionResult> {
  const typed = readText(request, 'concurrency').trim();
  return withFieldErrors(
    async () => {
      const { concurrency } = await automations.settings.save({
        concurrency: typed === '' ? null : Number(typed),
      });
      return withNotice('success', `Each node processes ${formatCount(concurrency, 'item')} at once.`);
    },
    async (errors) => ({
      template,
      data: await tasksView(automations, { query: {} }, { concurrency: typed, error: errors['concurrency'] }),
    }),
  );
}
