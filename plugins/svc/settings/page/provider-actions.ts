import { requireFound, formatCount, withNotice, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPage, AdminRequest } from '#plugin-api';
import type { Provider } from '../../providers/provider.ts';
import type { ProviderProbe } from '../provider-tester.ts';
import type { SettingsContext } from '../settings.ts';
import { readGroup, readChanges, readText } from '../../admin-ui/form-values.ts';
import { droppedSecretsText } from '../configured.ts';
import { secretStates } from '../../admin-ui/setting-fields.ts';
import { providerCard, settingsView } from './settings-view.ts';

/** Actions of the provider cards. All of them save first; test and sync then make a real call. */
export function providerActions(context: SettingsContext): NonNullable<AdminPage['actions']> {
  return {
    'save-provider': (request) =>
      saveAnd(request, context, async (provider, removed) =>
        withNotice(removed === '' ? 'success' : 'warning', `${provider.label} settings saved. ${removed}`.trim(), {
          redirect: `svc?provider=${provider.id}`,
        }),
      ),
    'test-provider': (request) =>
      saveAnd(request, context, (provider, removed) =>
        callProvider({ request, context, provider, removed, sentence: testSentence }),
      ),
    'sync-models': (request) =>
      saveAnd(request, context, (provider, removed) =>
        callProvider({ request, context, provider, removed, sentence: syncSentence }),
      ),
  };
}

interface Call {
  readonly request: AdminRequest;
  readonly context: SettingsContext;
  readonly provider: Provider;
  /** Which secrets were removed by saving (D35), or ''. */
  readonly removed: string;
  readonly sentence: (provider: Provider, result: ProviderProbe) => string;
}

async function callProvider({ request, context, provider, removed, sentence }: Call): Promise<AdminActionResult> {
  const result = await context.tester.test(provider.id, request.signal);
  const card = await providerCard(provider, context);
  return withNotice(result.ok ? 'success' : 'error', `${removed} ${sentence(provider, result)}`.trim(), {
    page: { template: 'svc/settings', data: { ...(await settingsView(context)), openProvider: provider.id } },
    data: { works: result.ok, badge: card.badge, models: card.models, secrets: secretStates(card.fields) },
    status: result.ok ? 200 : 400,
  });
}

function testSentence({ label }: Provider, { ok, message }: ProviderProbe): string {
  return ok ? `${label}: ${message}` : `Settings saved, but the test failed. ${message}`;
}

function syncSentence({ label }: Provider, { ok, message, models }: ProviderProbe): string {
  if (!ok) return `Settings saved, but the models could not be loaded. ${message}`;
  if (models.length === 0) return `${label} lists no models. Type the name of a model.`;
  return `${label}: ${formatCount(models.length, 'model')} available.`;
}

/** The provider that a form names. @throws RestError 400 for an unknown provider */
export async function findProvider(request: AdminRequest, context: SettingsContext): Promise<Provider> {
  return requireFound(await context.providers.get(readText(request, 'provider')), {
    code: 'rest_svc_unknown_provider',
    status: 400,
    message: 'Unknown provider. Reload the page.',
  });
}

async function saveAnd(
  request: AdminRequest,
  context: SettingsContext,
  then: (provider: Provider, removed: string) => Promise<AdminActionResult>,
): Promise<AdminActionResult> {
  const provider = await findProvider(request, context);
  return withFieldErrors(
    async () => {
      const saved = await context.settings.providers.save(provider, readChanges(request, provider));
      return then(provider, droppedSecretsText(saved));
    },
    async (errors) => ({
      template: 'svc/settings',
      data: await settingsView(context, {
        form: `provider-${provider.id}`,
        typed: readGroup(request, 'settings'),
        errors,
      }),
    }),
    (name) => `settings[${name}]`,
  );
}
