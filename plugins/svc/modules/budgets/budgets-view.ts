import { translateText, type FieldErrors, type User } from '#plugin-api';
import { budgetStatus, type BudgetStatus } from './guard/budget-status.ts';
import { amountOf, budgetDefaults, type Budget } from './budget.ts';
import { budgetFields, readBudgetChoices, type BudgetChoices } from './budget-fields.ts';
import type { BudgetPorts } from './module.ts';
import { formatAmount, readScopeNames, scopeLabel, type ScopeNames } from './budget-labels.ts';

export const budgetsTemplate = 'svc/budgets';

/** The open form: a new budget or an existing one, with what was typed if it had errors. */
export interface OpenForm {
  /** '' for a new budget. */
  readonly id: string;
  readonly typed?: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

/**
 * The data of `svc/budgets`.
 *
 * @param user who sees the page
 */
export async function budgetsView(
  ports: BudgetPorts,
  open: OpenForm | null,
  user: User,
): Promise<Record<string, unknown>> {
  const { host, ledger } = ports;
  const budgets = await ports.budgets.list();
  // Includes the calls that this process has just recorded.
  await ledger.flush();
  const names = await readScopeNames(ports, budgets);
  const edited = open && open.id !== '' ? budgets.find(({ id }) => id === open.id) : undefined;
  const form =
    open === null && budgets.length > 0
      ? null
      : formView(edited, { open, names, choices: await readBudgetChoices(ports, user) });
  const cards = (await budgetStatus(host, budgets)).map((status) => ({
    ...cardView(status, names),
    forecast: forecastView(status, host.clock.now()),
  }));
  return { cards, form, isFirst: budgets.length === 0 };
}

interface FormInit {
  readonly open: OpenForm | null;
  readonly names: ScopeNames;
  readonly choices: BudgetChoices;
}

function formView(budget: Budget | undefined, { open, names, choices }: FormInit) {
  const values = open?.typed ?? (budget ? storedValues(budget, names) : { ...budgetDefaults, whose: 'all' });
  return {
    id: budget?.id ?? '',
    title: budget ? budget.name : translateText('New budget'),
    submit: budget ? 'Save budget' : 'Add budget',
    fields: budgetFields({ values, errors: open?.errors ?? {}, choices }),
  };
}

function storedValues(budget: Budget, { user }: ScopeNames): Record<string, unknown> {
  const id = budget.user_id;
  return {
    ...budget,
    whose: scopeValue(budget),
    // The id of a deleted user.
    ...(id !== undefined && { user_id: user.get(id) ?? String(id) }),
  };
}

/** The selected option of "Calls". */
export function scopeValue({ scope, module }: Pick<Budget, 'scope' | 'module'>): string {
  return scope === 'module' ? `module:${module ?? ''}` : scope;
}

const badges: Readonly<Record<BudgetStatus['state'], { readonly text: string; readonly kind: string }>> = {
  off: { text: 'Off', kind: '' },
  ok: { text: 'Within budget', kind: 'success' },
  alert: { text: 'Nearly used up', kind: 'warning' },
  exhausted: { text: 'Used up', kind: 'error' },
};

/** Of the bar, in units of its view box. */
const width = 1000;

function cardView({ budget, used, reserved, left, refused, amount, endsAt, state }: BudgetStatus, names: ScopeNames) {
  const { unit } = budget;
  const scale = (value: number): number => Math.round((Math.min(amount, Math.max(0, value)) * width) / amount);
  const usedWidth = scale(used);
  return {
    id: budget.id,
    name: budget.name,
    badge: badges[state],
    state,
    scope: scopeLabel(budget, names),
    per: budget.period === 'day' ? 'per day' : 'per month',
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
      budget.at_limit === 'fallback'
        ? `text falls back to ${budget.fallback_model ?? ''}, other calls are refused`
        : 'calls are refused',
    alert: budget.alert_percent,
    free: unit === 'dollars' && budget.unpriced === 'free',
    enabled: budget.enabled,
    idFields: { id: budget.id },
    editHref: `?edit=${encodeURIComponent(budget.id)}#budget-form`,
  };
}

/** Part of a period that must have passed before its pace says something. */
const leastElapsed = 0.05;

/** When a budget is used up at the pace of its period so far, or else what its calls will have used at the end. */
export function forecastView(
  { budget, used, amount, startsAt, endsAt, state }: BudgetStatus,
  now: number,
): { readonly usedUpAt?: number; readonly atEnd?: string; readonly isEarly?: boolean } | null {
  if (state === 'off' || state === 'exhausted') return null;
  const elapsed = now - startsAt;
  if (elapsed < (endsAt - startsAt) * leastElapsed) return { isEarly: true };
  const atEnd = (used * (endsAt - startsAt)) / elapsed;
  return atEnd > amount
    ? { usedUpAt: startsAt + (amount * elapsed) / used }
    : { atEnd: formatAmount(Math.round(atEnd), budget.unit) };
}
