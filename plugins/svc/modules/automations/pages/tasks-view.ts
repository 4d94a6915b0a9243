import type { ServiceContext } from '../../../wiring.ts';
import { automationsOf } from '../automations.ts';
import type { ItemCounts } from '../queue/item.ts';
import type { Run } from '../runs/run.ts';
import { mostAtOnce } from '../settings.ts';
import type { Task } from '../tasks/task.ts';
import { progressOf, runWords, scheduleWords, taskBadge } from './task-words.ts';
import { taskEditSlug, taskSlug } from './task-slugs.ts';

const none: ItemCounts = { pending: 0, processing: 0, completed: 0, failed: 0, cancelled: 0 };

/** The data of `svc/automations`. */
export async function tasksView(
  context: ServiceContext,
  typed?: { readonly concurrency: string; readonly error: string | undefined },
): Promise<Record<string, unknown>> {
  const { tasks, items, runs, types, settings } = automationsOf(context);
  const { host } = context;
  const [all, counts, next, last, kinds, { concurrency }] = await Promise.all([
    tasks.list(),
    items.allCounts(),
    tasks.nextRuns(),
    runs.last(),
    types.list(),
    settings.read(),
  ]);
  const labels = new Map(kinds.map(({ id, label }) => [id, label]));
  const busy = [...counts.values()].reduce((sum, { pending, processing }) => sum + pending + processing, 0);
  return {
    tasks: all.map((task) => ({
      ...card(task, { counts: counts.get(task.id) ?? none, last: last.get(task.id) }),
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
    mostAtOnce,
  };
}

function card(
  { id, name, status, schedule }: Task,
  { counts, last }: { readonly counts: ItemCounts; readonly last: Run | undefined },
): Record<string, unknown> {
  const isActive = status === 'active';
  return {
    id,
    title: name,
    badge: taskBadge(status),
    isActive,
    schedule: scheduleWords(schedule),
    progress: progressOf(counts),
    last: last && { at: last.startedAt, text: runWords(last), failed: last.state === 'failed' },
    switchLabel: isActive ? 'Pause' : 'Resume',
    idFields: { id },
    switchFields: { id, status: isActive ? 'paused' : 'active' },
  };
}

/** Changes whenever a figure of the list does. */
export function listStamp(counts: ReadonlyMap<number, ItemCounts>): string {
  return [...counts]
    .map(([id, { pending, processing, completed, failed, cancelled }]) =>
      [id, pending, processing, completed, failed, cancelled].join('.'),
    )
    .join(' ');
}
