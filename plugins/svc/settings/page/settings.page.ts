import { formatCount, withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { SettingsContext } from '../settings.ts';
import { readGroup, readText } from '../../admin-ui/form-values.ts';
import { keyActions } from './key-actions.ts';
import { providerActions } from './provider-actions.ts';
import { stoppedWithoutSandbox } from '../provider-users.ts';
import { settingsView } from './settings-view.ts';

/** The page "AI service": key, providers, parameters, image defaults, limits, sandbox. */
export function createPage(context: SettingsContext): AdminPageBody {
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
        const question = on || readText(request, 'confirm') === '1' ? null : await askToTurnOff(context);
        if (question !== null) return question;
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

/** The question before the sandbox is turned off, or null if nothing stops by that or it is off already. */
async function askToTurnOff(context: SettingsContext): Promise<AdminActionResult | null> {
  if (!(await context.settings.sandbox.isOn())) return null;
  const { hasProvider, stopped } = await stoppedWithoutSandbox(context);
  if (hasProvider && stopped.length === 0) return null;
  const text = hasProvider
    ? `Without the sandbox, ${formatCount(stopped.length, 'chatbot')} cannot answer. Nothing was changed yet.`
    : 'No provider is connected, so nothing can answer without the sandbox. Nothing was changed yet.';
  return withNotice('warning', text, {
    data: { confirm: true, stopped: stopped.map(({ name }) => name) },
    page: {
      template: 'svc/sandbox-off',
      title: 'Turn the sandbox off?',
      data: { hasProvider, stopped, setupHref: context.host.admin.url('svc/setup') },
    },
  });
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
    async (errors) => ({
      template: 'svc/settings',
      data: await settingsView(context, { form: group, typed, errors }),
    }),
    (name) => `${group}[${name}]`,
  );
}
