import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { automationsOf } from '../automations.ts';
import { itemStates, type ItemState } from '../queue/item.ts';
import { taskActions } from './task-actions.ts';
import { idOf, taskOfForm, taskOfQuery } from './task-of.ts';
import { progressOf } from './task-words.ts';
import { taskSlug } from './task-slugs.ts';
import { taskView } from './task-view.ts';

/** One task: how far it is, its items and its runs. */
export function taskPage(context: ServiceContext): AdminPageBody {
  return {
    render: async (request) => ({
      template: 'svc/automation-task',
      data: await taskView(context, await taskOfQuery(context, request), request.query),
    }),
    actions: {
      ...taskActions(context, ({ id }) => `${taskSlug}?id=${String(id)}`),
      retry: (request) => change(context, request, 'retry'),
      cancel: (request) => change(context, request, 'cancel'),
      live: async (request) => {
        const { items } = automationsOf(context);
        const { id } = await taskOfForm(context, request);
        const { done, total, open, text } = progressOf(await items.counts(id));
        return { data: { stamp: await items.stamp(id), busy: open > 0, progress: { done, total, text } } };
      },
    },
  };
}

const words = {
  retry: {
    none: 'Nothing to try again: only failed and cancelled items are.',
    done: (count: string) => `${count} set to go again.`,
  },
  cancel: {
    none: 'Nothing to cancel: only items that wait or are under way are.',
    done: (count: string) => `${count} cancelled.`,
  },
} as const;

/** Of one item (`item`), or of all in one state (`state`), or of all for which it makes sense. */
async function change(
  context: ServiceContext,
  request: AdminRequest,
  verb: 'retry' | 'cancel',
): Promise<AdminActionResult> {
  const task = await taskOfForm(context, request);
  const item = idOf(readText(request, 'item'));
  const state = itemStates.find((one) => one === readText(request, 'state'));
  const count = await automationsOf(context).items[verb](task.id, {
    ...(item !== null && { ids: [item] }),
    ...(state !== undefined && { state }),
  });
  const notice =
    count === 0
      ? { kind: 'info' as const, text: words[verb].none }
      : {
          kind: 'success' as const,
          text: words[verb].done(count === 1 ? '1 item is' : `${count.toLocaleString('en-GB')} items are`),
        };
  const shown: ItemState | undefined = itemStates.find((one) => one === readText(request, 'shown'));
  return { notice, redirect: `${taskSlug}?id=${String(task.id)}${shown === undefined ? '' : `&state=${shown}`}` };
}
