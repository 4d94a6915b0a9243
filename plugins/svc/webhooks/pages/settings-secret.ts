import type { AdminActionResult, AdminPage } from '#plugin-api';
import { textOf } from '../../settings/page/form-values.ts';
import { savingOrRefused } from '../../settings/page/refuse.ts';
import type { WebhookPagesContext } from './settings-context.ts';
import { settingsView } from './settings-view.ts';
import { timeLeft } from './settings-time-left.ts';

const overlaps = new Set([3_600, 86_400, 259_200, 604_800]);

/** Actions of the section "Signing secret". A new secret is shown once, in the answer alone. */
export function secretActions(context: WebhookPagesContext): NonNullable<AdminPage['actions']> {
  const { webhooks } = context;
  const reveal = (value: string, text: string): AdminActionResult => ({
    notice: { kind: 'success', text },
    reveal: { label: 'Signing secret', value },
  });
  return {
    'generate-secret': async () =>
      reveal(await webhooks.generateSecret(), 'A new signing secret is in force. Give it to your receivers now.'),
    'rotate-secret': async (request) => {
      const chosen = Number(textOf(request, 'overlap'));
      const overlap = overlaps.has(chosen) ? chosen : 86_400;
      return reveal(
        await webhooks.rotateSecret(overlap),
        `A new signing secret is in force. For ${timeLeft(overlap * 1000)}, the Standard Webhooks header is signed with the old one too.`,
      );
    },
    'save-secret': (request) =>
      savingOrRefused(
        async () => {
          await webhooks.setSecret(textOf(request, 'secret'));
          return { notice: { kind: 'success', text: 'The signing secret is saved.' } };
        },
        {
          inputName: (name) => name,
          page: async (faults) => ({ template: 'svc/webhooks', data: await settingsView(context, { faults }) }),
        },
      ),
    'clear-secret': async (request): Promise<AdminActionResult> => {
      if (textOf(request, 'confirm') !== '1')
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
