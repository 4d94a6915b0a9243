import type { AdminActionResult, AdminPage } from '#plugin-api';
import { curlCommand } from '../curl-command.ts';
import { exampleModel } from '../example-model.ts';
import type { SettingsContext } from '../settings-context.ts';
import { readText } from '../../admin-ui/form-values.ts';
import { withFieldErrors } from '../../admin-ui/with-field-errors.ts';
import { settingsView } from './settings-view.ts';

/** Actions of the section "REST API key" (contract 5.2, 5.3). */
export function keyActions(context: SettingsContext): NonNullable<AdminPage['actions']> {
  const { restKey } = context.settings;
  return {
    'save-key': (request) =>
      withFieldErrors(
        async () => {
          await restKey.set(readText(request, 'key'));
          return { notice: { kind: 'success', text: 'The REST API key is saved.' } };
        },
        {
          inputName: (name) => name,
          page: async (errors) => ({
            template: 'svc/settings',
            data: await settingsView(context, { form: 'key', typed: {}, errors }),
          }),
        },
      ),
    'generate-key': async () => showKey(await restKey.generate(), context),
    'clear-key': async (request): Promise<AdminActionResult> => {
      if (readText(request, 'confirm') !== '1') {
        return {
          notice: {
            kind: 'error',
            text: 'Nothing was changed. Tick the box to confirm that REST access is to be disabled.',
          },
        };
      }
      await restKey.clear();
      return {
        notice: {
          kind: 'success',
          text: 'The REST API key is cleared. Every REST call is answered with 401 until you set a new one.',
        },
      };
    },
  };
}

/** The page that shows a new key, the only time it can be read. */
async function showKey(key: string, context: SettingsContext): Promise<AdminActionResult> {
  const example = await exampleModel(context);
  const url = context.host.rest.url('/svc/v1/generate');
  return {
    notice: { kind: 'success', text: 'A new REST API key is in force. Copy it now: it is not shown again.' },
    page: {
      template: 'svc/key',
      data: { key, curl: curlCommand({ url, key, ...example }), configured: example.configured },
    },
  };
}
