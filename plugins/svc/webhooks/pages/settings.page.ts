import type { AdminActionResult, AdminPageBody, AdminRequest, AdminPage } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import { withFieldErrors } from '../../admin-ui/with-field-errors.ts';
import { sendTest, type TestResult } from './endpoint-test.ts';
import type { WebhookPagesContext } from './pages-context.ts';
import { settingsView } from './settings-view.ts';
import { timeLeft } from './settings-time-left.ts';

const overlaps = new Set([3_600, 86_400, 259_200, 604_800]);

/** Actions of the section "Signing secret". A new secret is shown once, in the answer alone. */
function secretActions(context: WebhookPagesContext): NonNullable<AdminPage['actions']> {
  const { webhooks } = context;
  const reveal = (value: string, text: string): AdminActionResult => ({
    notice: { kind: 'success', text },
    reveal: { label: 'Signing secret', value },
  });
  return {
    'generate-secret': async () =>
      reveal(await webhooks.generateSecret(), 'A new signing secret is in force. Give it to your receivers now.'),
    'rotate-secret': async (request) => {
      const chosen = Number(readText(request, 'overlap'));
      const overlap = overlaps.has(chosen) ? chosen : 86_400;
      return reveal(
        await webhooks.rotateSecret(overlap),
        `A new signing secret is in force. For ${timeLeft(overlap * 1000)}, the Standard Webhooks header is signed with the old one too.`,
      );
    },
    'save-secret': (request) =>
      withFieldErrors(
        async () => {
          await webhooks.setSecret(readText(request, 'secret'));
          return { notice: { kind: 'success', text: 'The signing secret is saved.' } };
        },
        {
          inputName: (name) => name,
          page: async (errors) => ({ template: 'svc/webhooks', data: await settingsView(context, { errors }) }),
        },
      ),
    'clear-secret': async (request): Promise<AdminActionResult> => {
      if (readText(request, 'confirm') !== '1')
        return {
          notice: {
            kind: 'error',
            text: 'Nothing was changed. Tick the box to confirm that deliveries are no longer to be signed.',
          },
        };
      await webhooks.clearSecret();
      return {
        notice: {
          kind: 'success',
          text: 'The signing secret is cleared. Only endpoints with a secret of their own are signed from now on.',
        },
      };
    },
  };
}

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
        const on = readText(request, 'enabled') === '1';
        await webhooks.setEnabled(on);
        return {
          notice: { kind: 'success', text: on ? 'Event webhooks are on.' : 'Event webhooks are off: nothing is sent.' },
        };
      },
      'switch-endpoint': async (request) => {
        const on = readText(request, 'enabled') === '1';
        const { name } = await webhooks.updateEndpoint(readText(request, 'id'), { enabled: on });
        return { notice: { kind: 'success', text: on ? `${name} is on.` : `${name} is off: nothing is sent to it.` } };
      },
      'test-endpoint': async (request) => testResponse(await sendTest(context, readText(request, 'id'))),
      'resume-endpoint': async (request) => {
        const resumed = await webhooks.deliveryLog.resume(readText(request, 'id'));
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
export function testResponse({ delivered, sentence, event, delivery }: TestResult): AdminActionResult {
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
  const typed = readText(request, 'deliveredDays').trim();
  return withFieldErrors(
    async () => {
      await context.webhooks.setDeliveredDays(typed === '' ? Number.NaN : Number(typed));
      return { notice: { kind: 'success', text: 'Saved.' } };
    },
    {
      inputName: (name) => name,
      page: async (errors) => ({ template, data: await settingsView(context, { errors, days: typed }) }),
    },
  );
}

/** Retry and Clear of the panel of failed jobs (contract 3): each counts once, however often it is clicked. */
function failedActions({ webhooks: { deliveryLog } }: WebhookPagesContext): NonNullable<AdminPage['actions']> {
  return {
    retry: async (request): Promise<AdminActionResult> => {
      const attempts = Number(readText(request, 'attempts'));
      const retried = Number.isInteger(attempts) && (await deliveryLog.retry(readText(request, 'id'), attempts));
      return {
        notice: retried
          ? { kind: 'success', text: 'The delivery is on its way again, with the same id.' }
          : { kind: 'info', text: 'This delivery was sent again already.' },
        data: { done: retried },
      };
    },
    clear: async (request): Promise<AdminActionResult> => {
      const cleared = await deliveryLog.clear(readText(request, 'id'));
      return {
        notice: cleared
          ? { kind: 'success', text: 'The delivery is off the list. Its log stays.' }
          : { kind: 'info', text: 'This delivery was off the list already.' },
        data: { done: cleared },
      };
    },
  };
}
