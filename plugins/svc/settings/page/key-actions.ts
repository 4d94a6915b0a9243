import { type AdminActionResult, type AdminPage, withNotice, withFieldErrors } from '#plugin-api';
import { curlCommand } from '../example-model.ts';
import { findExampleModel } from '../example-model.ts';
import type { SettingsContext } from '../settings.ts';
import { readText } from '../../admin-ui/form-values.ts';
import { settingsView } from './settings-view.ts';

/** Actions of the section "REST API key" (contract 5.2, 5.3). */
export function keyActions(context: SettingsContext): NonNullable<AdminPage['actions']> {
  const { restKey } = context.settings;
  return {
    'save-key': async (request) => {
      request.requireFreshSignIn();
      return withFieldErrors(
        async () => {
          const warning = await restKey.set(readText(request, 'key'));
          return warning === null
            ? withNotice('success', 'API key saved.')
            : withNotice('warning', `API key saved. ${warning}`);
        },
        async (errors) => ({
          template: 'svc/settings',
          data: await settingsView(context, { form: 'key', typed: {}, errors }),
        }),
      );
    },
    'generate-key': async (request) => {
      request.requireFreshSignIn();
      return showKey(await restKey.generate(), context);
    },
    'clear-key': async (request): Promise<AdminActionResult> => {
      request.requireFreshSignIn();
      await restKey.clear();
      return withNotice('success', 'API key cleared. Every REST call gets 401 until you set a new key.');
    },
  };
}

/** The page that shows a new key once. */
async function showKey(key: string, context: SettingsContext): Promise<AdminActionResult> {
  const example = await findExampleModel(context);
  const url = context.host.rest.url('/svc/v1/generate');
  return withNotice('success', 'New API key created. Copy it now. You will not be able to view it again.', {
    page: {
      template: 'svc/key',
      data: { key, curl: curlCommand({ url, key, ...example }), configured: example.configured },
    },
  });
}
