import type { AdminActionResult, AdminPage } from '#plugin-api';
import { textOf } from '../../settings/page/form-values.ts';
import type { WebhookPagesContext } from './settings-context.ts';

/** Retry and Clear of the panel of failed jobs (contract 3): each counts once, however often it is clicked. */
export function failedActions({ webhooks: { recorder } }: WebhookPagesContext): NonNullable<AdminPage['actions']> {
  return {
    retry: async (request): Promise<AdminActionResult> => {
      const attempts = Number(textOf(request, 'attempts'));
      const retried = Number.isInteger(attempts) && (await recorder.retry(textOf(request, 'id'), attempts));
      return {
        notice: retried
          ? { kind: 'success', text: 'The delivery is on its way again, with the same id.' }
          : { kind: 'info', text: 'This delivery was sent again already.' },
        data: { done: retried },
      };
    },
    clear: async (request): Promise<AdminActionResult> => {
      const cleared = await recorder.clear(textOf(request, 'id'));
      return {
        notice: cleared
          ? { kind: 'success', text: 'The delivery is off the list. Its log stays.' }
          : { kind: 'info', text: 'This delivery was off the list already.' },
        data: { done: cleared },
      };
    },
  };
}
