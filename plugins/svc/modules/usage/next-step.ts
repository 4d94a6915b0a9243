import { missingSettings } from '../../settings/configured.ts';
import type { UsagePorts } from './module.ts';

/** The next step towards a first call. */
export async function nextStep({ settings, providers, host }: UsagePorts): Promise<Record<string, string>> {
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
      text: 'This page shows every call to a provider, with its tokens and cost. Set up a provider first.',
      href: host.admin.url('svc/setup'),
      label: 'Set up a provider',
    };
  }
  if (masked === null)
    return {
      title,
      text: 'This page shows every call to a provider, with its tokens and cost. API callers need a REST key.',
      href: `${host.admin.url('svc')}#rest-key`,
      label: 'Create an API key',
    };
  return {
    title,
    text: 'Everything is ready. Your first call appears here within a second.',
    href: host.admin.url('rest'),
    label: 'View the API reference',
  };
}
