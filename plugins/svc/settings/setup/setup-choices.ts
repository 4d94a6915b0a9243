import type { SetupChoice } from '#plugin-api';
import { exampleModel } from '../example-model.ts';
import type { SettingsContext } from '../settings-context.ts';
import { finishSetup } from './finish.ts';

/** The last step of the first-run setup: an answer at once from the sandbox, or from a provider of one's own. */
export function addSetupChoices(context: SettingsContext): void {
  for (const choice of [sandboxChoice(context), providerChoice()]) context.host.admin.addSetupChoice(choice);
}

function sandboxChoice(context: SettingsContext): SetupChoice {
  return {
    id: 'sandbox',
    label: 'Try it with the sandbox',
    description: 'No account needed. Answers are made up on this machine; switch to a real provider whenever you like.',
    position: 10,
    available: () => context.settings.sandbox.isAvailable(),
    choose: async () => {
      await context.settings.sandbox.turn(true);
      const { provider, model } = await exampleModel(context);
      return { template: 'svc/setup-finish', data: await finishSetup(context, { provider, model, sandbox: true }) };
    },
  };
}

function providerChoice(): SetupChoice {
  return {
    id: 'provider',
    label: 'Use my own provider',
    description:
      'You have an account with OpenAI, Azure, Google, OpenRouter, Claude, DeepSeek or xAI, or Ollama on a machine of yours.',
    position: 20,
    choose: async () => ({ redirect: 'svc/setup' }),
  };
}
