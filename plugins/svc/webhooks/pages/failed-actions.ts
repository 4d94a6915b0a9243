import type { AdminActionResult, AdminPage, AdminRequest } from '#plugin-api';
import { textOf } from '../../settings/page/form-values.ts';
import type { WebhookPagesContext } from './settings-context.ts';

/** Retry and Clear of the panel of failed jobs (contract 3): each counts once, however often it is clicked. */
export function failedActions({ webhooks: { recorder } }: WebhookPagesContext): NonNullable<AdminPage['actions']> {
  /** The delivery as it stood on the page that was clicked: a second click on an old page means the same failure, not a later one. */
  async function isSame(request: AdminRequest): Promise<boolean> {
    const delivery = await recorder.get(textOf(request, 'id'));
    return delivery !== null && delivery.state === 'failed' && String(delivery.attempts) === textOf(request, 'attempts');
  }
  return {
    retry: async (request): Promise<AdminActionResult> => {
      const retried = (await isSame(request)) && (await recorder.retry(textOf(request, 'id')));
      return { notice: retried ? { kind: 'success', text: 'The delivery is on its way again, with the same id.' } : { kind: 'info', text: 'This delivery was sent again already.' }, data: { done: retried } };
    },
    clear: async (request): Promise<AdminActionResult> => {
      const cleared = await recorder.clear(textOf(request, 'id'));
      return { notice: cleared ? { kind: 'success', text: 'The delivery is off the list. Its log stays.' } : { kind: 'info', text: 'This delivery was off the list already.' }, data: { done: cleared } };
    },
  };
}
