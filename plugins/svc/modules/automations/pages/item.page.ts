import type { AdminPageBody } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { automationsOf } from '../automations.ts';
import { itemView, stampOf } from './item-view.ts';
import { itemOf } from './task-of.ts';
import { itemSlug } from './task-slugs.ts';

/** One item: what it is, what came of it and why, and what it cost. */
export function itemPage(context: ServiceContext): AdminPageBody {
  const { items } = automationsOf(context);
  return {
    render: async ({ query }) => ({
      template: 'svc/automation-item',
      data: await itemView(context, await itemOf(context, query['id'])),
    }),
    actions: {
      retry: async (request) => {
        const item = await itemOf(context, readText(request, 'id'));
        const count = await items.retry(item.taskId, { ids: [item.id] });
        return {
          notice:
            count === 0
              ? { kind: 'info', text: 'It is not failed or cancelled any more.' }
              : { kind: 'success', text: 'It goes again.' },
          redirect: `${itemSlug}?id=${String(item.id)}`,
        };
      },
      cancel: async (request) => {
        const item = await itemOf(context, readText(request, 'id'));
        const count = await items.cancel(item.taskId, { ids: [item.id] });
        return {
          notice:
            count === 0
              ? { kind: 'info', text: 'It is finished already.' }
              : { kind: 'success', text: 'It is cancelled; nothing of it is stored.' },
          redirect: `${itemSlug}?id=${String(item.id)}`,
        };
      },
      live: async (request) => {
        const item = await itemOf(context, readText(request, 'id'));
        return { data: { stamp: stampOf(item), busy: item.state === 'pending' || item.state === 'processing' } };
      },
    },
  };
}
