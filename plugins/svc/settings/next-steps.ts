import type { SettingsContext } from './settings-context.ts';
import { missingSettings } from './configured.ts';

/** A line of the dashboard's list of what to do next. */
interface NextStep {
  readonly text: string;
  /** Slug of an admin page. */
  readonly href?: string;
  readonly done?: boolean;
}

/** On the dashboard: a key and a provider, until there are both. */
export function addNextSteps(context: SettingsContext): void {
  context.host.hooks.addFilter('admin_next_steps', async (steps: readonly NextStep[]) => [
    ...steps,
    ...(await nextSteps(context)),
  ]);
}

async function nextSteps({ settings, providers }: SettingsContext): Promise<NextStep[]> {
  const [masked, sandbox] = await Promise.all([settings.restKey.masked(), settings.sandbox.isOn()]);
  const all = await providers.all();
  const ready = await Promise.all(
    all.map(
      async (provider) =>
        provider.required.includes('api_key') &&
        missingSettings(provider, await settings.providers.saved(provider)).length === 0,
    ),
  );
  return [
    { text: 'Set a REST API key, so that callers get in.', href: 'svc', done: masked !== null },
    {
      text: sandbox ? 'Configure a provider, then switch the sandbox off.' : 'Configure a provider.',
      href: 'svc',
      done: ready.includes(true),
    },
  ];
}
