import { parseId, formatCount, formatNumber } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { formatCost, type Cost } from '../../../kit/format-cost.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Automations } from '../automations.ts';
import { itemStates, type ItemState, type Item, type ItemCounts } from '../queue/item.ts';
import { taskActions } from './task-actions.ts';
import { requireTaskOfForm, requireTaskOfQuery } from './require-task.ts';
import {
  summarizeProgress,
  itemBadge,
  itemTitle,
  runMessage,
  scheduleLabel,
  sourceLabel,
  stateLabels,
  taskBadge,
} from './task-labels.ts';
import { taskSlug, itemSlug, taskEditSlug } from './task-slugs.ts';
import type { Task } from '../tasks/task.ts';

const paths: Readonly<Record<string, string>> = { post: 'posts', page: 'pages', attachment: 'media' };

/** The URL of a post's editor; null if the post is deleted or its type has no admin pages. */
export async function findEditHref({ host }: Pick<Automations, 'host'>, id: number): Promise<string | null> {
  const post = await host.content.posts.get(id);
  if (post === null || host.content.postType(post.type)?.showInAdmin !== true) return null;
  return `${host.admin.url(`${paths[post.type] ?? `content/${post.type}`}/edit`)}?id=${String(id)}`;
}

const perPage = 25;
const runsShown = 10;

/** The data of `svc/automation-task`. */
async function taskView(
  automations: Automations,
  task: Task,
  query: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { host, tasks, items, runs, types, costs } = automations;
  const state = itemStates.find((one) => one === query['state']);
  // First: the stamp of the page must not be newer than what it shows.
  const stamp = await items.stamp(task.id);
  const [counts, next, last, type, page, spent] = await Promise.all([
    items.counts(task.id),
    tasks.nextRuns(),
    runs.list(task.id, runsShown),
    types.get(task.type),
    readPage(automations, task, { query, state }),
    costs.ofTask(task.id),
  ]);
  const progress = summarizeProgress(counts);
  const isActive = task.status === 'active';
  return {
    id: task.id,
    title: task.name,
    badge: taskBadge(task.status),
    isActive,
    type: type?.label ?? task.type,
    typeIsGone: type === undefined,
    source: sourceLabel(task.source, host.content),
    schedule: scheduleLabel(task.schedule),
    next: next.get(task.id),
    spent: formatItemCost(spent),
    limits: formatLimits(task),
    progress,
    stamp,
    hasItems: progress.total > 0,
    tabs: stateTabs(automations, { task, counts, state }),
    ...page,
    shown: state ?? '',
    isFiltered: state !== undefined,
    failed: counts.failed,
    open: progress.open,
    runs: last.map((run) => ({
      at: run.startedAt,
      by: startedByLabels[run.begunBy],
      text: runMessage(run),
      failed: run.state === 'failed',
    })),
    fields: { id: task.id },
    failedFields: { id: task.id, state: 'failed', shown: state ?? '' },
    switchLabel: isActive ? 'Pause' : 'Resume',
    switchFields: { id: task.id, status: isActive ? 'paused' : 'active' },
    editHref: `${host.admin.url(taskEditSlug)}?id=${String(task.id)}`,
    usageHref: host.admin.url('svc/usage'),
  };
}

const startedByLabels = { schedule: 'Schedule', page: 'User', command: 'Command line', ability: 'Ability' } as const;

interface PageQuery {
  readonly query: Readonly<Record<string, unknown>>;
  readonly state: ItemState | undefined;
}

/** One page of items. Pagination is by id, so that new items do not shift the pages. */
async function readPage(
  automations: Automations,
  task: Task,
  { query, state }: PageQuery,
): Promise<Record<string, unknown>> {
  const { items, costs } = automations;
  const [before, after] = [parseId(query['before']), parseId(query['after'])];
  const found = await items.list(task.id, {
    limit: perPage + 1,
    ...(state !== undefined && { state }),
    ...(before > 0 && { before }),
    ...(after > 0 && before === 0 && { after }),
  });
  const isBack = after > 0 && before === 0;
  const hasMore = found.length > perPage;
  const rows = isBack ? found.slice(-perPage) : found.slice(0, perPage);
  const spent = await costs.ofItems(rows);
  const address = (position: Readonly<Record<string, string>>): string =>
    `?${new URLSearchParams({ id: String(task.id), ...(state !== undefined && { state }), ...position }).toString()}`;
  const [first, last] = [rows[0], rows.at(-1)];
  const newer = first !== undefined && (isBack ? hasMore : before > 0);
  const older = last !== undefined && (isBack || hasMore);
  return {
    rows: await Promise.all(rows.map((item) => itemRow(automations, item, { cost: spent.get(item.id), shown: state }))),
    pagination:
      newer || older
        ? {
            text: `${formatCount(rows.length, 'item')}, newest first`,
            previous: newer ? address({ after: String(first.id) }) : null,
            next: older ? address({ before: String(last.id) }) : null,
          }
        : null,
  };
}

async function itemRow(
  automations: Automations,
  item: Item,
  { cost, shown }: { readonly cost: Cost | undefined; readonly shown: ItemState | undefined },
): Promise<Record<string, unknown>> {
  const { id, state, attempts, message, postId, finishedAt, startedAt, createdAt } = item;
  return {
    id,
    title: itemTitle(item),
    href: `${automations.host.admin.url(itemSlug)}?id=${String(id)}`,
    badge: itemBadge(item),
    attempts,
    message,
    isFailed: state === 'failed',
    cost: cost ? formatItemCost(cost) : '',
    at: finishedAt ?? startedAt ?? createdAt,
    postHref: postId === null ? null : await findEditHref(automations, postId),
    canRetry: state === 'failed' || state === 'cancelled',
    canCancel: state === 'pending' || state === 'processing',
    fields: { id: item.taskId, item: id, shown: shown ?? '' },
  };
}

function stateTabs(
  { host }: Automations,
  { task, counts, state }: { readonly task: Task; readonly counts: ItemCounts; readonly state: ItemState | undefined },
): readonly Record<string, unknown>[] {
  const address = (one?: ItemState): string =>
    `${host.admin.url(taskSlug)}?id=${String(task.id)}${one === undefined ? '' : `&state=${one}`}`;
  const total = itemStates.reduce((sum, one) => sum + counts[one], 0);
  return [
    { label: `All (${formatNumber(total)})`, href: address(), current: state === undefined },
    ...itemStates.map((one) => ({
      label: `${stateLabels[one]} (${formatNumber(counts[one])})`,
      href: address(one),
      current: state === one,
    })),
  ];
}

export function formatItemCost(cost: Cost): string {
  return cost.calls === 0 ? 'None yet' : formatCost(cost);
}

function formatLimits({ limits: { run, day }, attempts }: Task): string {
  const parts = [
    ...(run > 0 ? [`${formatNumber(run)} per run`] : []),
    ...(day > 0 ? [`${formatNumber(day)} per day`] : []),
  ];
  return `${parts.length === 0 ? 'No limit' : `At most ${parts.join(', ')}`}; ${formatCount(attempts, 'attempt')} each`;
}

/** The page of one task: progress, items and runs. */
export function createPage(automations: Automations): AdminPageBody {
  return {
    render: async (request) => {
      const task = await requireTaskOfQuery(automations, request);
      return {
        template: 'svc/automation-task',
        title: task.name,
        data: await taskView(automations, task, request.query),
      };
    },
    actions: {
      ...taskActions(automations, ({ id }) => `${taskSlug}?id=${String(id)}`),
      retry: (request) => change(automations, request, 'retry'),
      cancel: (request) => change(automations, request, 'cancel'),
      live: async (request) => {
        const { items } = automations;
        const { id } = await requireTaskOfForm(automations, request);
        const { open, ...progress } = summarizeProgress(await items.counts(id));
        return { readOnly: true, data: { stamp: await items.stamp(id), busy: open > 0, progress } };
      },
    },
  };
}

const notices = {
  retry: {
    none: 'No items to retry: only failed and cancelled items can be retried.',
    done: (count: string) => `${count} queued again.`,
  },
  cancel: {
    none: 'No items to cancel: only items that are waiting or in progress can be cancelled.',
    done: (count: string) => `${count} cancelled.`,
  },
} as const;

/** Retries or cancels one item (`item`), all in one state (`state`), or all for which it is possible. */
async function change(
  automations: Automations,
  request: AdminRequest,
  verb: 'retry' | 'cancel',
): Promise<AdminActionResult> {
  const task = await requireTaskOfForm(automations, request);
  const item = parseId(readText(request, 'item'));
  const state = itemStates.find((one) => one === readText(request, 'state'));
  const count = await automations.items[verb](task.id, {
    ...(item > 0 && { ids: [item] }),
    ...(state !== undefined && { state }),
  });
  const notice =
    count === 0
      ? { kind: 'info' as const, text: notices[verb].none }
      : {
          kind: 'success' as const,
          text: notices[verb].done(formatCount(count, 'item')),
        };
  const shown: ItemState | undefined = itemStates.find((one) => one === readText(request, 'shown'));
  return { notice, redirect: `${taskSlug}?id=${String(task.id)}${shown === undefined ? '' : `&state=${shown}`}` };
}
