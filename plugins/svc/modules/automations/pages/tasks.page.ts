import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { withFieldErrors } from '../../../admin-ui/with-field-errors.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { automationsOf } from '../automations.ts';
import { taskActions } from './task-actions.ts';
import { tasksSlug } from './task-slugs.ts';
import { listStamp, tasksView } from './tasks-view.ts';

const template = 'svc/automations';

/** The list of tasks: how far each one is, when it runs next, and what can be done with it. */
export function tasksPage(context: ServiceContext): AdminPageBody {
  return {
    render: async () => ({ template, data: await tasksView(context) }),
    actions: {
      ...taskActions(context, () => tasksSlug),
      settings: (request) => saveSettings(context, request),
      live: async () => ({ data: { stamp: listStamp(await automationsOf(context).items.allCounts()), busy: true } }),
    },
  };
}

function saveSettings(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const typed = readText(request, 'concurrency').trim();
  return withFieldErrors(
    async () => {
      const { concurrency } = await automationsOf(context).settings.save({
        concurrency: typed === '' ? null : Number(typed),
      });
      return {
        notice: {
          kind: 'success',
          text:
            concurrency === 1
              ? 'One item at a time is worked on, on each node.'
              : `${String(concurrency)} items at once are worked on, on each node.`,
        },
      };
    },
    {
      inputName: (name) => name,
      page: async (errors) => ({
        template,
        data: await tasksView(context, { concurrency: typed, error: errors['concurrency'] }),
      }),
    },
  );
}
