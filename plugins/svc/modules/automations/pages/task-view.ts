import { formatMoney } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { automationsOf } from '../automations.ts';
import type { Cost } from '../costs.ts';
import { itemStates, type Item, type ItemCounts, type ItemState } from '../queue/item.ts';
import type { Task } from '../tasks/task.ts';
import { idOf } from './task-of.ts';
import { editPostHref } from './post-link.ts';
import {
  itemBadge,
  itemTitle,
  progressOf,
  runWords,
  scheduleWords,
  sourceWords,
  stateLabels,
  taskBadge,
} from './task-words.ts';
import { itemSlug, taskEditSlug, taskSlug, tasksSlug } from './task-slugs.ts';

const perPage = 25;
const runsShown = 10;

/** The data of `svc/automation-task`. */
export async function taskView(
  context: ServiceContext,
  task: Task,
  query: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { tasks, items, runs, types, costs } = automationsOf(context);
  const { host } = context;
  const state = itemStates.find((one) => one === query['state']);
  const [counts, next, last, type, page, stamp, spent] = await Promise.all([
    items.counts(task.id),
    tasks.nextRuns(),
    runs.list(task.id, runsShown),
    types.get(task.type),
    readPage(context, task, { query, state }),
    items.stamp(task.id),
    costs.ofTask(task.id),
  ]);
  const progress = progressOf(counts);
  const isActive = task.status === 'active';
  return {
    id: task.id,
    title: task.name,
    badge: taskBadge(task.status),
    isActive,
    type: type?.label ?? task.type,
    typeIsGone: type === undefined,
    source: sourceWords(task.source),
    schedule: scheduleWords(task.schedule),
    next: next.get(task.id),
    spent: costWords(spent),
    limits: limitWords(task),
    progress,
    stamp,
    hasItems: progress.total > 0,
    tabs: tabsOf(context, { task, counts, state }),
    ...page,
    shown: state ?? '',
    isFiltered: state !== undefined,
    failed: counts.failed,
    open: progress.open,
    runs: last.map((run) => ({
      at: run.startedAt,
      by: byWords[run.begunBy],
      text: runWords(run),
      failed: run.state === 'failed',
    })),
    fields: { id: task.id },
    failedFields: { id: task.id, state: 'failed', shown: state ?? '' },
    switchLabel: isActive ? 'Pause' : 'Resume',
    switchFields: { id: task.id, status: isActive ? 'paused' : 'active' },
    editHref: `${host.admin.url(taskEditSlug)}?id=${String(task.id)}`,
    listHref: host.admin.url(tasksSlug),
    usageHref: host.admin.url('svc/usage'),
  };
}

const byWords = { schedule: 'By its schedule', page: 'By hand', command: 'By command' } as const;

interface Asked {
  readonly query: Readonly<Record<string, unknown>>;
  readonly state: ItemState | undefined;
}

/** Items of one page and the ways to its neighbours, by place: what comes or goes meanwhile shifts nothing. */
async function readPage(
  context: ServiceContext,
  task: Task,
  { query, state }: Asked,
): Promise<Record<string, unknown>> {
  const { items, costs } = automationsOf(context);
  const [before, after] = [idOf(query['before']), idOf(query['after'])];
  const found = await items.list(task.id, {
    limit: perPage + 1,
    ...(state !== undefined && { state }),
    ...(before !== null && { before }),
    ...(after !== null && before === null && { after }),
  });
  const isBack = after !== null && before === null;
  const hasMore = found.length > perPage;
  const rows = isBack ? found.slice(-perPage) : found.slice(0, perPage);
  const spent = await costs.ofItems(rows);
  const address = (place: Readonly<Record<string, string>>): string =>
    `?${new URLSearchParams({ id: String(task.id), ...(state !== undefined && { state }), ...place }).toString()}`;
  const [first, last] = [rows[0], rows.at(-1)];
  const newer = first !== undefined && (isBack ? hasMore : before !== null);
  const older = last !== undefined && (isBack || hasMore);
  return {
    rows: await Promise.all(rows.map((item) => rowOf(context, item, { cost: spent.get(item.id), shown: state }))),
    pagination:
      newer || older
        ? {
            text: `${String(rows.length)} items, newest first`,
            previous: newer ? address({ after: String(first.id) }) : null,
            next: older ? address({ before: String(last.id) }) : null,
          }
        : null,
  };
}

async function rowOf(
  context: ServiceContext,
  item: Item,
  { cost, shown }: { readonly cost: Cost | undefined; readonly shown: ItemState | undefined },
): Promise<Record<string, unknown>> {
  const { id, state, attempts, message, postId, finishedAt, startedAt, createdAt } = item;
  return {
    id,
    title: itemTitle(item),
    href: `${context.host.admin.url(itemSlug)}?id=${String(id)}`,
    badge: itemBadge(item),
    attempts,
    message,
    isFailed: state === 'failed',
    cost: cost ? costWords(cost) : '',
    at: finishedAt ?? startedAt ?? createdAt,
    postHref: postId === null ? null : await editPostHref(context, postId),
    canRetry: state === 'failed' || state === 'cancelled',
    canCancel: state === 'pending' || state === 'processing',
    fields: { id: item.taskId, item: id, shown: shown ?? '' },
  };
}

function tabsOf(
  { host }: ServiceContext,
  { task, counts, state }: { readonly task: Task; readonly counts: ItemCounts; readonly state: ItemState | undefined },
): readonly Record<string, unknown>[] {
  const address = (one?: ItemState): string =>
    `${host.admin.url(taskSlug)}?id=${String(task.id)}${one === undefined ? '' : `&state=${one}`}`;
  const total = itemStates.reduce((sum, one) => sum + counts[one], 0);
  return [
    { label: `All (${total.toLocaleString('en-GB')})`, href: address(), current: state === undefined },
    ...itemStates.map((one) => ({
      label: `${stateLabels[one]} (${counts[one].toLocaleString('en-GB')})`,
      href: address(one),
      current: state === one,
    })),
  ];
}

export function costWords({ cost, calls, unpriced }: Cost): string {
  if (calls === 0) return 'nothing yet';
  return unpriced === 0
    ? formatMoney(cost)
    : unpriced === calls
      ? 'no price known'
      : `${formatMoney(cost)} and ${String(unpriced)} calls without a price`;
}

function limitWords({ limits: { run, day }, attempts }: Task): string {
  const parts = [
    ...(run > 0 ? [`${run.toLocaleString('en-GB')} a run`] : []),
    ...(day > 0 ? [`${day.toLocaleString('en-GB')} a day`] : []),
  ];
  return `${parts.length === 0 ? 'no limit' : `at most ${parts.join(', ')}`}; ${attempts === 1 ? '1 attempt' : `${String(attempts)} attempts`} each`;
}
