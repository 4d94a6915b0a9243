import { formatCount, formatMoney, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Automations } from '../automations.ts';
import { requireItem, taskLink } from './require-task.ts';
import { itemSlug } from './task-slugs.ts';
import type { ItemCall } from '../costs.ts';
import type { Item } from '../queue/item.ts';
import { unknownTask } from '../tasks/task-store.ts';
import type { Task } from '../tasks/task.ts';
import { findEditHref, formatItemCost } from './task.page.ts';
import { itemBadge, itemTitle, statusLabel } from './task-labels.ts';

/** The page of one item: input, result, attempts and cost. */
export function createPage(automations: Automations): AdminPageBody {
  const { items, tasks } = automations;
  const change =
    (act: typeof items.retry, texts: { readonly none: string; readonly done: string }) =>
    async (request: AdminRequest): Promise<AdminActionResult> => {
      const item = await requireItem(automations, readText(request, 'id'));
      const count = await act(item.taskId, { ids: [item.id] });
      const redirect = `${itemSlug}?id=${String(item.id)}`;
      return count === 0
        ? withNotice('info', texts.none, { redirect })
        : withNotice('success', texts.done, { redirect });
    };
  return {
    render: async ({ query }) => {
      const item = await requireItem(automations, query['id']);
      const task = await tasks.get(item.taskId);
      if (task === null) throw unknownTask(item.taskId);
      return {
        template: 'svc/automation-item',
        title: itemTitle(item),
        trail: [taskLink(automations, task)],
        data: await itemView(automations, item, task),
      };
    },
    actions: {
      retry: change(items.retry, {
        none: 'This item is no longer failed or cancelled.',
        done: 'The item is queued again.',
      }),
      cancel: change(items.cancel, {
        none: 'This item is already finished.',
        done: 'The item was cancelled. Nothing of it is stored.',
      }),
      live: async (request) => {
        const item = await requireItem(automations, readText(request, 'id'));
        return {
          readOnly: true,
          data: { stamp: stampOf(item), busy: item.state === 'pending' || item.state === 'processing' },
        };
      },
    },
  };
}

/** The data of `svc/automation-item`. */
async function itemView(automations: Automations, item: Item, task: Task): Promise<Record<string, unknown>> {
  const { host, providers, costs } = automations;
  const calls = await costs.calls(item);
  const post = item.postId === null ? null : await host.content.posts.get(item.postId);
  const { state, wait } = item;
  return {
    id: item.id,
    title: itemTitle(item),
    badge: itemBadge(item),
    isFailed: state === 'failed',
    message: item.message,
    target: item.target,
    input: Object.entries(item.input)
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => ({ name, value })),
    attempts: item.attempts,
    most: task.attempts,
    createdAt: item.createdAt,
    startedAt: item.startedAt,
    finishedAt: item.finishedAt,
    nextAt: state === 'pending' && wait !== null && wait > 0 ? host.clock.now() + wait : null,
    isPaused: task.status === 'paused' && state === 'pending',
    ai: item.ai,
    postGone: item.postId !== null && post === null,
    post: post && {
      title: post.title === '' ? '(no title)' : post.title,
      href: await findEditHref(automations, post.id),
      view: await host.content.permalink(post),
      status: statusLabel(post.status, host.content),
    },
    cost: formatItemCost({
      cost: calls.reduce((sum, call) => sum + Number(call.cost ?? 0), 0),
      calls: calls.length,
      unpriced: calls.filter(({ cost }) => cost === null).length,
    }),
    calls: calls.map((call) => ({ ...callView(call), provider: providers.get(call.provider)?.label ?? call.provider })),
    canRetry: state === 'failed' || state === 'cancelled',
    canCancel: state === 'pending' || state === 'processing',
    isOpen: state === 'pending' || state === 'processing',
    fields: { id: item.id },
    stamp: stampOf(item),
  };
}

function callView({
  time,
  kind,
  model,
  input_tokens,
  output_tokens,
  images,
  cost,
  duration,
  outcome,
}: ItemCall): Record<string, unknown> {
  return {
    at: time,
    kind,
    model,
    duration,
    outcome: outcome === 'ok' ? 'OK' : 'Failed',
    isFailed: outcome !== 'ok',
    amount:
      kind === 'image'
        ? formatCount(images, 'image')
        : formatCount(Number(input_tokens) + Number(output_tokens), 'token'),
    cost: cost === null ? 'Unknown price' : formatMoney(Number(cost)),
  };
}

/** Changes with every change of the item. */
function stampOf({ state, attempts, finishedAt }: Item): string {
  return [state, attempts, finishedAt ?? ''].join('-');
}
