import type { BudgetStatus } from './guard/budget-status.ts';
import { budgetStatus } from './guard/budget-status.ts';
import type { ServiceContext } from '../../wiring.ts';
import { amountOf, budgetDefaults, type Budget } from './budget.ts';
import type { FieldErrors } from '../../kit/field-errors.ts';
import { budgetFields } from './budget-fields.ts';
import { formatAmount, scopeLabel } from './words.ts';

export type BudgetsContext = Pick<ServiceContext, 'host' | 'settings' | 'providers' | 'ledger'>;
export const budgetsTemplate = 'svc/budgets';

/** The form that is open: a new budget or one that is edited, as typed where it was refused. */
export interface OpenForm {
  /** '': a new one. */
  readonly id: string;
  readonly typed?: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

/** The data of `svc/budgets`. */
export async function budgetsView(context: BudgetsContext, open: OpenForm | null): Promise<Record<string, unknown>> {
  const { host, settings, providers } = context;
  const budgets = await settings.budgets.list();
  // What this process noted a moment ago is shown as well.
  await context.ledger.flush();
  const labels = [...(await providers.all())].map(({ id, label }) => ({ value: id, label }));
  const edited = open && open.id !== '' ? budgets.find(({ id }) => id === open.id) : undefined;
  const form =
    open === null && budgets.length > 0
      ? null
      : formOf(edited, { typed: open?.typed, errors: open?.errors, providers: labels });
  return { cards: (await budgetStatus(host, budgets)).map(cardOf), form, isFirst: budgets.length === 0 };
}

interface FormInit {
  readonly typed: OpenForm['typed'];
  readonly errors: OpenForm['errors'];
  readonly providers: readonly { readonly value: string; readonly label: string }[];
}

function formOf(budget: Budget | undefined, { typed, errors = {}, providers }: FormInit) {
  const values = typed ?? (budget ? { ...budget, whose: scopeValue(budget) } : { ...budgetDefaults, whose: 'all' });
  return {
    id: budget?.id ?? '',
    title: budget ? `Edit “${budget.name}”` : 'New budget',
    submit: budget ? 'Save budget' : 'Add budget',
    fields: budgetFields({ values, errors, providers }),
  };
}

/** The choice of the select "Whose calls". */
export function scopeValue({ scope, module }: Pick<Budget, 'scope' | 'module'>): string {
  return scope === 'module' ? `module:${module ?? ''}` : scope;
}

const states: Readonly<Record<BudgetStatus['state'], { readonly text: string; readonly kind: string }>> = {
  off: { text: 'Off', kind: '' },
  ok: { text: 'Within budget', kind: 'success' },
  alert: { text: 'Nearly used up', kind: 'warning' },
  exhausted: { text: 'Used up', kind: 'error' },
};

/** Units across the bar's picture. */
const width = 1000;

function cardOf({ budget, used, reserved, left, refused, amount, endsAt, state }: BudgetStatus) {
  const { unit } = budget;
  const scale = (value: number): number => Math.round((Math.min(amount, Math.max(0, value)) * width) / amount);
  const usedWidth = scale(used);
  return {
    id: budget.id,
    name: budget.name,
    badge: states[state],
    whose: scopeLabel(budget),
    per: budget.period === 'day' ? 'a day' : 'a month',
    amount: formatAmount(amountOf(budget), unit),
    used: formatAmount(used, unit),
    reserved: formatAmount(reserved, unit),
    left: formatAmount(left, unit),
    hasReserved: reserved > 0,
    percent: Math.round((used * 100) / amount),
    bar: {
      used: usedWidth,
      reservedFrom: usedWidth,
      reserved: Math.min(width - usedWidth, scale(reserved)),
      alert: budget.alert_percent > 0 ? budget.alert_percent * (width / 100) : null,
    },
    endsAt,
    refused,
    atLimit:
      budget.at_limit === 'fallback' ? `falls back to ${budget.fallback_model ?? ''} for text` : 'calls are refused',
    alert: budget.alert_percent,
    free: unit === 'dollars' && budget.unpriced === 'free',
    enabled: budget.enabled,
    idFields: { id: budget.id },
    editHref: `?edit=${encodeURIComponent(budget.id)}#budget-form`,
  };
}
