import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { textOf } from '../../settings/page/form-values.ts';
import { savingOrRefused } from '../../settings/page/refuse.ts';
import { failedActions } from './failed-actions.ts';
import { secretActions } from './settings-secret.ts';
import { sendTest, type TestResult } from './endpoint-test.ts';
import type { WebhookPagesContext } from './settings-context.ts';
import { settingsView } from './settings-view.ts';

const template = 'svc/webhooks';

/** The page "Webhooks": switch, endpoints, failed jobs, signing secret, log (contract 2.7, 3). */
export function webhooksPage(context: WebhookPagesContext): AdminPageBody {
  const { webhooks } = context;
  return {
    render: async () => ({ template, data: await settingsView(context) }),
    actions: {
      ...secretActions(context),
      ...failedActions(context),
      'set-enabled': async (request) => {
        const on = textOf(request, 'enabled') === '1';
        await webhooks.setEnabled(on);
        return {
          notice: { kind: 'success', text: on ? 'Event webhooks are on.' : 'Event webhooks are off: nothing is sent.' },
        };
      },
      'switch-endpoint': async (request) => {
        const on = textOf(request, 'enabled') === '1';
        const { name } = await webhooks.updateEndpoint(textOf(request, 'id'), { enabled: on });
        return { notice: { kind: 'success', text: on ? `${name} is on.` : `${name} is off: nothing is sent to it.` } };
      },
      'test-endpoint': async (request) => testAnswer(await sendTest(context, textOf(request, 'id'))),
      'resume-endpoint': async (request) => {
        const resumed = await webhooks.recorder.resume(textOf(request, 'id'));
        return {
          notice: {
            kind: resumed ? 'success' : 'info',
            text: resumed ? 'The pause is over: what waited is being sent.' : 'This endpoint is not paused any more.',
          },
        };
      },
      'save-log': (request) => saveDays(context, request),
    },
  };
}

/** The outcome of a test as an answer to the browser, with or without JavaScript. */
export function testAnswer({ delivered, sentence, event, delivery }: TestResult): AdminActionResult {
  return {
    notice: { kind: delivered ? 'success' : 'error', text: sentence },
    data: {
      delivered,
      event,
      delivery_id: delivery?.id ?? null,
      status: delivery?.httpStatus ?? null,
      duration: delivery?.duration ?? null,
      attempts: delivery?.attempts ?? 0,
      error: delivery?.error ?? null,
    },
    status: 200,
  };
}

function saveDays(context: WebhookPagesContext, request: AdminRequest): Promise<AdminActionResult> {
  const typed = textOf(request, 'deliveredDays').trim();
  return savingOrRefused(
    async () => {
      await context.webhooks.setDeliveredDays(typed === '' ? Number.NaN : Number(typed));
      return { notice: { kind: 'success', text: 'Saved.' } };
    },
    {
      inputName: (name) => name,
      page: async (faults) => ({ template, data: await settingsView(context, { faults, days: typed }) }),
    },
  );
}
