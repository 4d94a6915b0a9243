import { formatWait, withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminPage } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import { sendTest, type TestResult } from './endpoint-test.ts';
import type { WebhookPagesContext } from './pages-context.ts';
import { settingsView } from './settings-view.ts';

const overlaps = new Set([3_600, 86_400, 259_200, 604_800]);

/** Actions of the section "Signing secret". A new secret appears only in the response that creates it. */
function secretActions(context: WebhookPagesContext): NonNullable<AdminPage['actions']> {
  const { webhooks } = context;
  const reveal = (value: string, text: string): AdminActionResult =>
    withNotice('success', text, { reveal: { label: 'Signing secret', value } });
  return {
    'generate-secret': async (request) => {
      request.requireFreshSignIn();
      return reveal(await webhooks.generateSecret(), 'New signing secret active. Copy it to your receivers now.');
    },
    'rotate-secret': async (request) => {
      request.requireFreshSignIn();
      const chosen = Number(readText(request, 'overlap'));
      const overlap = overlaps.has(chosen) ? chosen : 86_400;
      return reveal(
        await webhooks.rotateSecret(overlap),
        `New signing secret active. For ${formatWait(overlap * 1000)}, the Standard Webhooks header also carries the old signature.`,
      );
    },
    'save-secret': async (request) => {
      request.requireFreshSignIn();
      return withFieldErrors(
        async () => {
          await webhooks.setSecret(readText(request, 'secret'));
          return withNotice('success', 'Signing secret saved.');
        },
        async (errors) => ({ template: 'svc/webhooks', data: await settingsView(context, { errors }) }),
      );
    },
    'clear-secret': async (request): Promise<AdminActionResult> => {
      request.requireFreshSignIn();
      await webhooks.clearSecret();
      return withNotice('success', 'Signing secret removed. Only endpoints with their own secret are signed now.');
    },
  };
}

const template = 'svc/webhooks';

/** The page "Webhooks": switch, endpoints, recent failures, signing secret, retention (contract 2.7, 3). */
export function createPage(context: WebhookPagesContext): AdminPageBody {
  const { webhooks } = context;
  return {
    render: async () => ({ template, data: await settingsView(context) }),
    actions: {
      ...secretActions(context),
      ...failedActions(context),
      'set-enabled': async (request) => {
        const on = readText(request, 'enabled') === '1';
        await webhooks.setEnabled(on);
        return withNotice('success', on ? 'Event webhooks turned on.' : 'Event webhooks turned off. Nothing is sent.');
      },
      'switch-endpoint': async (request) => {
        const on = readText(request, 'enabled') === '1';
        const { name } = await webhooks.updateEndpoint(readText(request, 'id'), { enabled: on });
        return withNotice('success', on ? `${name} turned on.` : `${name} turned off. Nothing is sent to it.`);
      },
      'test-endpoint': async (request) => testResponse(await sendTest(context, readText(request, 'id'))),
      'resume-endpoint': async (request) => {
        const resumed = await webhooks.deliveryLog.resume(readText(request, 'id'));
        return withNotice(
          resumed ? 'success' : 'info',
          resumed ? 'Endpoint resumed. Pending events are sent now.' : 'This endpoint is no longer paused.',
        );
      },
      'save-log': (request) => saveDays(context, request),
    },
  };
}

/** Converts the result of a test into a response, with or without JavaScript. */
export function testResponse({ delivered, message, event, delivery }: TestResult): AdminActionResult {
  return withNotice(delivered ? 'success' : 'error', message, {
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
  });
}

function saveDays(context: WebhookPagesContext, request: AdminRequest): Promise<AdminActionResult> {
  const typed = readText(request, 'deliveredDays').trim();
  return withFieldErrors(
    async () => {
      await context.webhooks.setDeliveredDays(typed === '' ? Number.NaN : Number(typed));
      return withNotice('success', 'Settings saved.');
    },
    async (errors) => ({ template, data: await settingsView(context, { errors, days: typed }) }),
  );
}

/** Retry and Clear of recent failures (contract 3). Repeated clicks count once. */
function failedActions({ webhooks: { deliveryLog } }: WebhookPagesContext): NonNullable<AdminPage['actions']> {
  return {
    retry: async (request): Promise<AdminActionResult> => {
      const attempts = Number(readText(request, 'attempts'));
      const retried = Number.isInteger(attempts) && (await deliveryLog.retry(readText(request, 'id'), attempts));
      return {
        notice: retried
          ? { kind: 'success', text: 'Retry started with the same delivery id.' }
          : { kind: 'info', text: 'This delivery has already been retried.' },
        data: { done: retried },
      };
    },
    clear: async (request): Promise<AdminActionResult> => {
      const cleared = await deliveryLog.clear(readText(request, 'id'));
      return {
        notice: cleared
          ? { kind: 'success', text: 'Removed from the list. The delivery log keeps it.' }
          : { kind: 'info', text: 'Already removed from the list.' },
        data: { done: cleared },
      };
    },
  };
}
