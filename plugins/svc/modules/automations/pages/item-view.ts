import { formatMoney } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { automationsOf } from '../automations.ts';
import type { ItemCall } from '../costs.ts';
import type { Item } from '../queue/item.ts';
import { unknownTask } from '../tasks/task-store.ts';
import { editPostHref } from './post-link.ts';
import { itemBadge, itemTitle } from './task-words.ts';
import { taskSlug } from './task-slugs.ts';
import { costWords } from './task-view.ts';

/** The data of `svc/automation-item`. */
export async function itemView(context: ServiceContext, item: Item): Promise<Record<string, unknown>> {
  const { tasks, costs } = automationsOf(context);
  const { host } = context;
  const [task, calls] = await Promise.all([tasks.get(item.taskId), costs.calls(item)]);
  if (task === null) throw unknownTask(item.taskId);
  const post = item.postId === null ? null : await host.content.posts.get(item.postId);
  const { state, wait } = item;
  return {
    id: item.id,
    title: itemTitle(item),
    badge: itemBadge(item),
    taskName: task.name,
    taskHref: `${host.admin.url(taskSlug)}?id=${String(task.id)}`,
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
      href: await editPostHref(context, post.id),
      view: await host.content.permalink(post),
      status: post.status,
    },
    cost: costWords({
      cost: calls.reduce((sum, call) => sum + Number(call.cost ?? 0), 0),
      calls: calls.length,
      unpriced: calls.filter(({ cost }) => cost === null).length,
    }),
    calls: calls.map(callView),
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
  provider,
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
    provider,
    model,
    duration,
    outcome: outcome === 'ok' ? 'ok' : outcome,
    isFailed: outcome !== 'ok',
    amount:
      kind === 'image'
        ? `${String(images)} images`
        : `${Number(input_tokens + output_tokens).toLocaleString('en-GB')} tokens`,
    cost: cost === null ? 'no price known' : formatMoney(Number(cost)),
  };
}

/** Changes when the item does. */
export function stampOf({ state, attempts, finishedAt }: Item): string {
  return [state, attempts, finishedAt ?? ''].join('-');
}
