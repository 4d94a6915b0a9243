import { formatDate, formatRetryTime, inLanguage, retryAfter, RestError, type HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { alertFrom, amountOf, type Budget } from '../budget.ts';
import { BudgetRefusal } from './budget-guard.ts';
import { budgetPeriod, counterOf } from './budget-period.ts';
import { budgetCounters, nameOfCounter } from './budget-tables.ts';
import type { CountedBudget } from './count-usage.ts';
import { distinctRequests, type ReservationRequest } from './reserve.ts';

export interface BudgetAlertParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks' | 'log'>;
  readonly budgets: () => Promise<readonly Budget[]>;
}

export interface Refusal {
  /** Whether it is the first of its counter that is used up: it announces the exhaustion. */
  readonly isFirst: boolean;
  /** Whether only reservations are in the way. */
  readonly isReserved: boolean;
}

/** Milliseconds a caller waits for running calls; few take longer, whatever their limit. */
const longestWait = 60_000;

/** Milliseconds. The vendors' clients repeat a call at once where they are asked to wait longer. */
const longestOfClients = 60_000;

/** Whether a call would fit beside what is used, so that only reservations are in the way. */
export function isReserved(
  { amount, limit }: { readonly amount: number; readonly limit: number },
  used: number,
): boolean {
  return used + amount <= limit;
}

/** Refusals and alerts of budgets. Each action runs once per period, on the node that first stores it as announced. */
export function createBudgetAlerts({ host, budgets }: BudgetAlertParts) {
  const { database, clock, site, hooks, log } = host;
  const row = ({ counter, period }: Pick<ReservationRequest, 'counter' | 'period'>) =>
    database.knex(budgetCounters).where({ counter, period });

  const usedOf = async (counter: Pick<ReservationRequest, 'counter' | 'period'>): Promise<number> => {
    const [stored] = (await row(counter).select('used')) as { used: number }[];
    return Number(stored?.used ?? 0);
  };

  return {
    /** Counts calls that exceed budgets, and stores which of these are used up. */
    async countRefusals(requests: readonly ReservationRequest[]): Promise<Refusal[]> {
      const used = new Map<string, number>();
      const firsts = new Set<ReservationRequest>();
      for (const request of distinctRequests(requests)) {
        const { limit } = request;
        const name = nameOfCounter(request);
        const calls = requests.filter((other) => nameOfCounter(other) === name);
        await row(request).increment('refused', calls.length);
        used.set(name, await usedOf(request));
        const isUsedUp = calls.some((call) => !isReserved(call, used.get(name) ?? 0));
        if (isUsedUp && (await row(request).whereNot('exhausted', limit).update({ exhausted: limit })) > 0)
          firsts.add(request);
      }
      return requests.map((request) => ({
        isFirst: firsts.has(request),
        isReserved: isReserved(request, used.get(nameOfCounter(request)) ?? 0),
      }));
    },

    async announceExhaustion({ budget, counter, period, limit }: ReservationRequest): Promise<void> {
      const used = await usedOf({ counter, period });
      log.warn('Budget used up', { event: 'budget_exhausted', budget: budget.name, period, at_limit: budget.at_limit });
      await hooks.doActionAsync('svc_budget_exhausted', { budget, period, used, amount: limit });
    },

    /** The error of a call that exceeds a budget. */
    async refusal({ budget }: Pick<ReservationRequest, 'budget'>): Promise<RestError> {
      const timeZone = await site.timezone();
      const { endsAt } = budgetPeriod(budget.period, clock.now(), timeZone);
      const wait = endsAt - clock.now();
      return errors.budget_exhausted({
        values: {
          budget: budget.name,
          period: budget.period === 'day' ? 'today' : 'this month',
          // English: the error is translated as a whole where it is shown.
          date: inLanguage(undefined, () => formatDate(endsAt, 'day', timeZone)),
        },
        data: { budget: budget.id },
        headers: { ...retryAfter(wait), ...(wait > longestOfClients && { 'x-should-retry': 'false' }) },
        cause: new BudgetRefusal(budget),
      });
    },

    /** The error of a call that only running calls leave no room for. The budget is not used up: they take less than reserved. */
    busy({ budget }: Pick<ReservationRequest, 'budget'>, limit: number): RestError {
      const wait = Math.min(limit, longestWait);
      const { code, status } = errors.budget_exhausted();
      return new RestError({
        code,
        status,
        message: `Running calls have reserved what is left of the budget “${budget.name}”. Try again ${formatRetryTime(wait)}.`,
        data: { budget: budget.id, is_reserved: true },
        headers: retryAfter(wait),
        cause: new BudgetRefusal(budget),
      });
    },

    /** Called for each counter that grew. */
    async alert({ counter, period, used }: CountedBudget): Promise<void> {
      const budget = (await budgets()).find((known) => known.enabled && counterOf(known) === counter);
      const from = budget === undefined ? null : alertFrom(budget);
      if (budget === undefined || from === null || used < from) return;
      const isFirst = (await row({ counter, period }).whereNot('alerted', from).update({ alerted: from })) > 0;
      if (!isFirst) return;
      const amount = amountOf(budget);
      log.warn('Budget nearly used up', {
        event: 'budget_alert',
        budget: budget.name,
        period,
        percent: Math.floor((used * 100) / amount),
      });
      await hooks.doActionAsync('svc_budget_alert', { budget, period, used, amount });
    },
  };
}
