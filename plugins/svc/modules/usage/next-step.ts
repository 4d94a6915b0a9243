import { missingSettings } from '../../settings/configured.ts';
import type { UsageContext } from './usage-view.ts';

/** What leads to a first call: the one thing that is still missing. */
export async function nextStep({ settings, providers, host }: UsageContext): Promise<Record<string, string>> {
  const title = 'No calls yet';
  const [sandbox, masked] = await Promise.all([settings.sandbox.isOn(), settings.restKey.masked()]);
  const all = [...(await providers.all())];
  const ready = await Promise.all(
    all.map(
      async (provider) =>
        provider.required.includes('api_key') &&
        missingSettings(provider, await settings.providers.saved(provider)).length === 0,
    ),
  );
  if (!sandbox && !ready.includes(true)) {
    return {
      title,
      text: 'Every call to a provider is noted here, with its tokens and cost. Configure a provider first.',
      href: host.admin.url('svc/setup'),
      label: 'Set up a provider',
    };
  }
  if (masked === null)
    return {
      title,
      text: 'Every call to a provider is noted here, with its tokens and cost. Callers need a REST API key.',
      href: `${host.admin.url('svc')}#rest-key`,
      label: 'Make a key',
    };
  return {
    title,
    text: 'Everything is ready. The first call appears here within a second.',
    href: host.admin.url('rest'),
    label: 'See how to call',
  };
}
