import { inGroups } from '#plugin-api';
import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import type { BudgetedCall, BudgetGuard, CallUse } from '../../../ai/ports.ts';
import { errors } from '../../../kit/errors.ts';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';
import type { PricesPort, PricedUsage } from '../../../ports.ts';
import { amountOf, type Budget } from '../budget.ts';
import { createBudgetAlerts, isReserved } from './budget-alerts.ts';
import { counterOf, periodName } from './budget-period.ts';
import { budgetStatus } from './budget-status.ts';
import type { CountedBudget } from './count-usage.ts';
import { sortCounters } from './budget-tables.ts';
import { createBudgetCounters } from './counters.ts';
import type { BudgetPlan } from './hooks.ts';
import { createReservationOwner } from './reservation-owner.ts';
import type { ReservationRequest } from './reserve.ts';

export interface BudgetReservationParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks' | 'log'>;
  readonly budgets: () => Promise<readonly Budget[]>;
  /** Millionths of a US dollar: 0 in sandbox mode, null without a known price. */
  readonly costOf: (usage: PricedUsage) => Promise<number | null>;
  readonly findPrice: PricesPort['prices']['find'];
}

export interface BudgetReservations extends BudgetGuard {
  /** Runs the alerts that follow from what a write of the usage ledger counted. Never rejects. */
  announce(counted: readonly CountedBudget[]): Promise<void>;
}

/** Milliseconds that a reservation outlives its call: time to store what it used. */
const settlementTime = 60_000;

/** Budgets in the database: one count for all nodes. */
export function createBudgetReservations(parts: BudgetReservationParts): BudgetReservations {
  const { host, budgets, costOf, findPrice } = parts;
  const { clock, site, hooks, log } = host;
  const counters = createBudgetCounters(host.database, createReservationOwner(host));
  const alerts = createBudgetAlerts({ host, budgets });
  const reserve = inGroups(counters.reserve);
  const countRefusal = inGroups(alerts.countRefusals);

  /** @param isComplete whether tokens and cost are estimated even if no budget needs them */
  async function planFor(call: BudgetedCall, isComplete = false): Promise<BudgetPlan> {
    const { estimate, ...described } = call;
    const applying = (await budgets()).filter(
      (budget) => appliesTo(budget, call.origin) && call.bypassedBudgetIds?.includes(budget.id) !== true,
    );
    const isFiltered = hooks.hasFilter('svc_budget_reserve') !== false;
    if (!isComplete && !isFiltered && applying.every(({ unit }) => unit === 'calls'))
      return { budgets: applying, cost: null, tokens: 0 };
    const use = await pricedUse(call, await estimate());
    const cost = await costOf({ provider: call.provider, model: call.model, ...use });
    const plan = { budgets: applying, tokens: use.inputTokens + use.outputTokens, cost };
    if (!isFiltered) return plan;
    // `waived` is the earlier name of the ids.
    return hooks.applyFiltersAsync('svc_budget_reserve', plan, { ...described, waived: call.bypassedBudgetIds });
  }

  /** A model with a price per image is not paid for by tokens. */
  async function pricedUse({ kind, provider, model }: BudgetedCall, use: CallUse): Promise<CallUse> {
    const price = kind === 'image' ? await findPrice({ provider, model, size: use.size, quality: use.quality }) : null;
    if (price?.image === undefined) return use;
    return { ...use, outputTokens: 0, ...(price.input === undefined && { inputTokens: 0 }) };
  }

  async function requestsFor(plan: BudgetPlan, call: BudgetedCall): Promise<ReservationRequest[]> {
    const timezone = await site.timezone();
    return plan.budgets.flatMap((budget): ReservationRequest[] => {
      const amount = amountFor(budget, plan, call);
      if (!Number.isSafeInteger(amount) || amount < 0)
        throw new Error(
          `The filter svc_budget_reserve returned a plan that takes ${String(amount)} of ${budget.name}.`,
        );
      // What costs nothing is never refused, such as sandbox calls under a budget of dollars.
      if (amount === 0) return [];
      const period = periodName(budget.period, clock.now(), timezone);
      return [{ budget, amount, limit: amountOf(budget), counter: counterOf(budget), period }];
    });
  }

  return {
    async reserve(call) {
      const requests = await requestsFor(await planFor(call), call);
      if (requests.length === 0) return null;
      const id = randomUUID();
      const exhausted = await reserve({ call: id, requests, lifetime: call.limit + settlementTime });
      if (exhausted === null) return id;
      const { isFirst, isReserved: isBusy } = await countRefusal(exhausted);
      if (isBusy) throw alerts.busy(exhausted, call.limit);
      if (isFirst) await alerts.announceExhaustion(exhausted);
      throw await alerts.refusal(exhausted);
    },
    async explain(call) {
      const use = await pricedUse(call, await call.estimate());
      const plan = await planFor({ ...call, estimate: () => Promise.resolve(use) }, true);
      const requests = sortCounters(await requestsFor(plan, call));
      await counters.releaseExpired();
      const statuses = await budgetStatus(
        host,
        requests.map(({ budget }) => budget),
      );
      const taken = statuses.map((status, index) => ({ ...status, takes: requests[index]?.amount ?? 0 }));
      const exceeded = taken.find(({ amount, used, reserved, takes }) => used + reserved + takes > amount);
      if (exceeded !== undefined) {
        const { amount: limit, takes: amount, used } = exceeded;
        throw isReserved({ amount, limit }, used) ? alerts.busy(exceeded, call.limit) : await alerts.refusal(exceeded);
      }
      const { provider, model, kind } = call;
      return {
        ...{ kind, provider, model, inputTokens: use.inputTokens, outputTokens: use.outputTokens, images: use.images },
        cost: plan.cost,
        budgets: taken.map(({ budget: { id, name, unit }, takes, left }) => ({ id, name, unit, takes, left })),
      };
    },
    async announce(counted) {
      try {
        for (const budget of counted) await alerts.alert(budget);
      } catch (error) {
        log.warn('Failed to check budget alerts', { event: 'budget_alert_check_failed', error });
      }
    },
  };
}

/** Releases what ended processes had reserved. */
export async function releaseReservations(host: Pick<HostApi, 'database' | 'clock' | 'log'>): Promise<void> {
  await createBudgetCounters(host.database, createReservationOwner(host)).releaseExpired();
}

function appliesTo(budget: Budget, origin: UsageOrigin): boolean {
  const { enabled, scope, module, bot_id, key_id, user_id, role, plugin } = budget;
  if (!enabled) return false;
  if (scope === 'key') return origin.caller?.kind === 'named-key' && origin.caller.id === key_id;
  if (scope === 'user') return origin.userId === user_id;
  if (scope === 'role') return role !== undefined && origin.roles?.includes(role) === true;
  if (scope === 'plugin') return origin.plugin === plugin;
  if (scope === 'rest') return origin.module === 'rest';
  if (scope === 'module') return origin.module === module;
  return scope === 'all' || origin.botId === bot_id;
}

/** What a call takes of a budget, in the unit of its counter. */
function amountFor(
  { unit, unpriced, name, id }: Budget,
  { cost, tokens }: BudgetPlan,
  { provider, model, unpricedParam }: BudgetedCall,
): number {
  if (unit === 'calls') return 1;
  if (unit === 'tokens') return Math.ceil(tokens);
  if (cost === null && unpriced === 'refuse')
    throw errors.budget_no_price({ values: { model, provider, budget: name }, data: { budget: id } });
  // A provider of no cost, such as the sandbox's, charges nothing for it either.
  const param = cost !== 0 && unpriced === 'refuse' ? unpricedParam?.() : undefined;
  if (param !== undefined)
    throw errors.budget_unpriced_param({ values: { param, provider, budget: name }, data: { budget: id, param } });
  return Math.ceil(cost ?? 0);
}
