import type { SetupChoice } from '#plugin-api';
import { findExampleModel } from './example-model.ts';
import type { SettingsContext } from './settings.ts';
import { curlCommand } from './example-model.ts';

/** The last step of the first-run setup: use the sandbox, or connect a provider. */
export function addSetupChoices(context: SettingsContext): void {
  for (const choice of [sandboxChoice(context), providerChoice()]) context.host.admin.addSetupChoice(choice);
}

function sandboxChoice(context: SettingsContext): SetupChoice {
  return {
    id: 'sandbox',
    label: 'Use the sandbox',
    description: 'No account needed. Responses are generated locally. You can switch to a real provider at any time.',
    position: 10,
    available: () => context.settings.sandbox.isAvailable(),
    choose: async () => {
      await context.settings.sandbox.set(true);
      const { provider, model } = await findExampleModel(context);
      return { template: 'svc/setup-finish', data: await finishSetup(context, { provider, model, sandbox: true }) };
    },
  };
}

function providerChoice(): SetupChoice {
  return {
    id: 'provider',
    label: 'Connect a provider',
    description:
      'Use your account with OpenAI, Azure, Google, OpenRouter, Claude, DeepSeek or xAI, or your own Ollama server.',
    position: 20,
    choose: async () => ({ redirect: 'svc/setup' }),
  };
}

interface FinishInit {
  readonly provider: string;
  readonly model: string;
  readonly sandbox: boolean;
}

/** Generates the REST key and returns the data of `svc/setup-finish`, which shows the key once (D3). */
export async function finishSetup(
  context: SettingsContext,
  { provider, model, sandbox }: FinishInit,
): Promise<Record<string, unknown>> {
  const key = await context.settings.restKey.generate();
  const url = context.host.rest.url('/svc/v1/generate');
  return { key, url, sandbox, curl: curlCommand({ url, key, provider, model }) };
}
