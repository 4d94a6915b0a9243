import { formatDate, inLanguage, retryAfter, type HostApi, type RestError } from '#plugin-api';
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

/** Refusals and alerts of budgets. Each action runs once per period, on the node that first stores it as announced. */
export function createBudgetAlerts({ host, budgets }: BudgetAlertParts) {
  const { database, clock, site, hooks, log } = host;
  const row = ({ counter, period }: Pick<ReservationRequest, 'counter' | 'period'>) =>
    database.knex(budgetCounters).where({ counter, period });

  return {
    /** Counts calls that exceed budgets. Returns for each whether it is the first of its counter: it announces the exhaustion. */
    async countRefusals(requests: readonly ReservationRequest[]): Promise<boolean[]> {
      const firsts = new Set<ReservationRequest>();
      for (const request of distinctRequests(requests)) {
        const { limit } = request;
        const calls = requests.filter((other) => nameOfCounter(other) === nameOfCounter(request)).length;
        await row(request).increment('refused', calls);
        if ((await row(request).whereNot('exhausted', limit).update({ exhausted: limit })) > 0) firsts.add(request);
      }
      return requests.map((request) => firsts.has(request));
    },

    async announceExhaustion({ budget, counter, period, limit }: ReservationRequest): Promise<void> {
      const [stored] = (await row({ counter, period }).select('used')) as { used: number }[];
      log.warn('Budget used up', { event: 'budget_exhausted', budget: budget.name, period, at_limit: budget.at_limit });
      const used = Number(stored?.used ?? 0);
      await hooks.doActionAsync('svc_budget_exhausted', { budget, period, used, amount: limit });
    },

    /** The error of a call that exceeds a budget. */
    async refusal({ budget }: Pick<ReservationRequest, 'budget'>): Promise<RestError> {
      const timeZone = await site.timezone();
      const { endsAt } = budgetPeriod(budget.period, clock.now(), timeZone);
      return errors.budget_exhausted({
        values: {
          budget: budget.name,
          period: budget.period === 'day' ? 'today' : 'this month',
          // English: the error is translated as a whole where it is shown.
          date: inLanguage(undefined, () => formatDate(endsAt, 'day', timeZone)),
        },
        data: { budget: budget.id },
        headers: retryAfter(endsAt - clock.now()),
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
