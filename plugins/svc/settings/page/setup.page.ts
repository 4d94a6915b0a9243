import { withNotice, invalidFields, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, FieldErrors } from '#plugin-api';
import type { Provider } from '../../providers/provider.ts';
import { readGroup, readChanges } from '../../admin-ui/form-values.ts';
import { findProvider } from './provider-actions.ts';
import { droppedSecretsText } from '../configured.ts';
import { providerCard } from './settings-view.ts';
import type { SetupContext } from '../settings.ts';
import { defaultMonthlyBudget, finishSetup } from '../setup-choices.ts';

const template = 'svc/setup-provider';

/** Guided setup: choose a provider, enter its settings, test them, get a key. Not in the menu. */
export function createPage(context: SetupContext): AdminPageBody {
  return {
    render: async (request) => {
      const chosen = request.query['provider'];
      const provider = typeof chosen === 'string' ? await context.providers.get(chosen) : undefined;
      return { template, data: await setupView(context, provider) };
    },
    actions: {
      finish: (request) => finish(request, context, true),
      'finish-untested': (request) => finish(request, context, false),
    },
  };
}

interface RejectedSetup {
  readonly typed: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
  /** Why the test failed. The page then offers to finish without a test. */
  readonly failure?: string;
}

async function setupView(
  context: SetupContext,
  provider: Provider | undefined,
  rejected?: RejectedSetup,
): Promise<Record<string, unknown>> {
  const all = [...(await context.providers.all())].filter((candidate) => candidate.text);
  return {
    options: all.map(({ id, label }) => ({ value: id, label })),
    chosen: provider?.id ?? '',
    card:
      provider &&
      (await providerCard(
        provider,
        context,
        rejected && { form: 'setup', typed: rejected.typed, errors: rejected.errors },
      )),
    failure: rejected?.failure,
    budget: rejected?.typed['monthly_budget'] ?? defaultMonthlyBudget,
    budgetError: rejected?.errors['monthly_budget'],
    hasBudgets: (await context.budgets.list()).length > 0,
    hasKey: (await context.settings.restKey.masked()) !== null,
  };
}

async function finish(request: AdminRequest, context: SetupContext, tested: boolean): Promise<AdminActionResult> {
  const provider = await findProvider(request, context);
  const typed = { ...readGroup(request, 'settings'), monthly_budget: request.form['monthly_budget'] };
  return withFieldErrors(
    async () => {
      const monthlyBudget = readMonthlyBudget(request);
      const removed = droppedSecretsText(
        await context.settings.providers.save(provider, readChanges(request, provider)),
      );
      const result = tested ? await context.tester.test(provider.id, request.signal) : null;
      if (result?.ok === false) {
        return withNotice('error', `${removed} ${result.message}`.trim(), {
          page: { template, data: await setupView(context, provider, { typed, errors: {}, failure: result.message }) },
        });
      }
      const { model } = await context.settings.provider(provider.id);
      if (typeof model !== 'string' || model === '')
        throw invalidFields({ model: 'Choose a model, or type its name.' });
      return withNotice(
        'success',
        result ? `${provider.label}: ${result.message}` : `${provider.label} settings saved.`,
        {
          page: {
            template: 'svc/setup-finish',
            data: await finishSetup(context, { provider: provider.id, model, sandbox: false, monthlyBudget }),
          },
        },
      );
    },
    async (errors) => ({ template, data: await setupView(context, provider, { typed, errors }) }),
    (name) => (name === 'monthly_budget' ? name : `settings[${name}]`),
  );
}

/** Absent when the site has budgets already. */
function readMonthlyBudget({ form }: AdminRequest): number {
  const typed = form['monthly_budget'];
  const amount = typeof typed === 'string' && typed.trim() !== '' ? Number(typed) : 0;
  if (amount >= 0 && amount <= 1_000_000) return amount;
  throw invalidFields({ monthly_budget: 'Enter US dollars from 0 to 1,000,000. 0 means no budget.' });
}
