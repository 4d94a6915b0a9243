import { type AdminActionResult, type AdminPageBody, type AdminRequest, withNotice } from '#plugin-api';
import type { SettingsContext } from '../settings.ts';
import { readGroup, readText } from '../../admin-ui/form-values.ts';
import { keyActions } from './key-actions.ts';
import { providerActions } from './provider-actions.ts';
import { withFieldErrors } from '../../admin-ui/with-field-errors.ts';
import { settingsView } from './settings-view.ts';

/** The page "AI service": key, providers, parameters, image defaults, limits, sandbox. */
export function settingsPage(context: SettingsContext): AdminPageBody {
  const { settings } = context;
  return {
    render: async (request) => {
      const view = await settingsView(context);
      const chosen = request.query['provider'];
      return { template: 'svc/settings', data: { ...view, openProvider: typeof chosen === 'string' ? chosen : '' } };
    },
    actions: {
      ...keyActions(context),
      ...providerActions(context),
      'save-params': (request) =>
        saveGroup({
          request,
          context,
          group: 'params',
          save: (values) => settings.saveAiParams(values),
          text: 'AI parameters saved.',
        }),
      'save-images': (request) =>
        saveGroup({
          request,
          context,
          group: 'images',
          save: (values) => settings.saveImageDefaults(values),
          text: 'Image defaults saved.',
        }),
      'save-limits': (request) =>
        saveGroup({
          request,
          context,
          group: 'limits',
          save: (values) => settings.saveLimits(values),
          text: 'Limits saved.',
        }),
      'set-sandbox': async (request) => {
        const on = readText(request, 'sandbox') === '1';
        await settings.sandbox.set(on);
        return withNotice(
          'success',
          on
            ? 'Sandbox mode is on. Responses are generated locally.'
            : 'Sandbox mode is off. Requests go to your providers.',
        );
      },
    },
  };
}

interface SaveGroup {
  readonly request: AdminRequest;
  readonly context: SettingsContext;
  readonly group: 'params' | 'images' | 'limits';
  readonly save: (values: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly text: string;
}

function saveGroup({ request, context, group, save, text }: SaveGroup): Promise<AdminActionResult> {
  const typed = readGroup(request, group);
  return withFieldErrors(
    async () => {
      await save(typed);
      return withNotice('success', text);
    },
    {
      inputName: (name) => `${group}[${name}]`,
      page: async (errors) => ({
        template: 'svc/settings',
        data: await settingsView(context, { form: group, typed, errors }),
      }),
    },
  );
}
