import { formatMoney, type SetupChoice } from '#plugin-api';
import { guestLimitPerDay } from '../kit/visitors/limit-counters.ts';
import { findExampleModel } from './example-model.ts';
import type { SetupContext } from './settings.ts';
import { curlCommand } from './example-model.ts';

/** The last step of the first-run setup: use the sandbox, or connect a provider. */
export function addSetupChoices(context: SetupContext): void {
  for (const choice of [sandboxChoice(context), providerChoice()]) context.host.admin.addSetupChoice(choice);
}

function sandboxChoice(context: SetupContext): SetupChoice {
  return {
    id: 'sandbox',
    label: 'Use the sandbox',
    description: 'No account needed. Responses are generated locally. You can switch to a real provider at any time.',
    position: 10,
    available: () => context.settings.sandbox.isAvailable(),
    choose: async () => {
      await context.settings.sandbox.set(true);
      const { provider, model } = await findExampleModel(context);
      const init = { provider, model, sandbox: true, monthlyBudget: defaultMonthlyBudget };
      return { template: 'svc/setup-finish', data: await finishSetup(context, init) };
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

/** US dollars per month that a new site may spend, unless the administrator enters another amount. */
export const defaultMonthlyBudget = 20;

interface FinishInit {
  readonly provider: string;
  readonly model: string;
  readonly sandbox: boolean;
  /** US dollars; 0 for no budget. A site that has budgets keeps them as they are. */
  readonly monthlyBudget: number;
}

/**
 * Generates the REST key, limits what the site may spend, and returns the data of `svc/setup-finish`, which shows the key
 * once (D3).
 */
export async function finishSetup(
  context: SetupContext,
  { provider, model, sandbox, monthlyBudget }: FinishInit,
): Promise<Record<string, unknown>> {
  const { budgets, prices } = context;
  const isNew = (await budgets.list()).length === 0;
  if (isNew && monthlyBudget > 0) await budgets.save({ id: 'site', name: 'Whole site', amount: monthlyBudget });
  const key = await context.settings.restKey.generate();
  const url = context.host.rest.url('/svc/v1/generate');
  return {
    key,
    url,
    sandbox,
    curl: curlCommand({ url, key, provider, model }),
    budget: isNew && monthlyBudget > 0 ? formatMoney(monthlyBudget * 1_000_000) : null,
    hasBudgets: !isNew,
    // The budget refuses its calls (D43).
    unpricedModel: !sandbox && (await prices.find({ provider, model })) === null ? model : null,
    guestLimit: guestLimitPerDay,
  };
}
