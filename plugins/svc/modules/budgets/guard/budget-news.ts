import type { HostApi, RestError } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { alertFrom, amountOf, type Budget } from '../budget.ts';
import { budgetPeriod, counterOf } from './budget-period.ts';
import { budgetCounters } from './budget-tables.ts';
import type { CountedBudget } from './count-usage.ts';
import type { Need } from './take-needs.ts';
import { BudgetRefusal } from './fuse.ts';

export interface BudgetNewsParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks' | 'log'>;
  readonly budgets: () => Promise<readonly Budget[]>;
}

/** What budgets tell callers and the site. Each action runs once in a period, on the node that is the first to write it down. */
export function createBudgetNews({ host, budgets }: BudgetNewsParts) {
  const { database, clock, site, hooks, log } = host;
  const row = ({ counter, period }: Pick<Need, 'counter' | 'period'>) =>
    database.knex(budgetCounters).where({ counter, period });

  async function exhausted({ budget, counter, period, limit }: Need): Promise<void> {
    const isFirst = (await row({ counter, period }).whereNot('exhausted', limit).update({ exhausted: limit })) > 0;
    if (!isFirst) return;
    const [known] = (await row({ counter, period }).select('used')) as { used: number }[];
    log.warn('A budget is used up.', { budget: budget.name, period, at_limit: budget.at_limit });
    await hooks.doActionAsync('svc_budget_exhausted', {
      budget,
      period,
      used: Number(known?.used ?? 0),
      amount: limit,
    });
  }

  return {
    /** The error of a call that a budget has no room for. */
    async refusal(need: Need): Promise<RestError> {
      const { budget } = need;
      await row(need).increment('refused', 1);
      await exhausted(need);
      const { endsAt } = budgetPeriod(budget.period, clock.now(), await site.timezone());
      const seconds = Math.max(1, Math.ceil((endsAt - clock.now()) / 1000));
      return errors.budget_exhausted({
        values: { budget: budget.name, period: budget.period === 'day' ? 'today' : 'this month', seconds },
        data: { budget: budget.id },
        headers: { 'Retry-After': String(seconds) },
        cause: new BudgetRefusal(budget),
      });
    },

    /** Told of each counter that grew. */
    async alert({ counter, period, used }: CountedBudget): Promise<void> {
      const budget = (await budgets()).find((one) => one.enabled && counterOf(one) === counter);
      const from = budget === undefined ? null : alertFrom(budget);
      if (budget === undefined || from === null || used < from) return;
      const isFirst = (await row({ counter, period }).whereNot('alerted', from).update({ alerted: from })) > 0;
      if (!isFirst) return;
      log.warn('A budget is nearly used up.', {
        budget: budget.name,
        period,
        percent: Math.floor((used * 100) / amountOf(budget)),
      });
      await hooks.doActionAsync('svc_budget_alert', { budget, period, used, amount: amountOf(budget) });
    },
  };
}
