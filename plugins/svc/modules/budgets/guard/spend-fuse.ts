import { randomUUID } from 'node:crypto';
import type { HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { amountOf, type Budget } from '../budget.ts';
import type { UsageOrigin, UsageRecord } from '../../../ai/usage-record.ts';
import { createBudgetNews } from './budget-news.ts';
import { counterOf, periodName } from './budget-period.ts';
import { createCounters } from './counters.ts';
import type { BudgetedCall, SpendFuse } from './fuse.ts';
import type { BudgetPlan } from './hooks.ts';
import type { Need } from './take-needs.ts';

export interface SpendFuseParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks' | 'log'>;
  readonly budgets: () => Promise<readonly Budget[]>;
  /** Of the sandbox nothing; null where no price is known. */
  readonly cost: (
    usage: Pick<UsageRecord, 'provider' | 'model' | 'inputTokens' | 'outputTokens' | 'images'>,
  ) => Promise<number | null>;
}

/** A reservation outlives its call by this much: time to store what it used. */
const settlingTime = 60_000;

/** Budgets in the database: one count for all nodes. */
export function createSpendFuse({ host, budgets, cost }: SpendFuseParts): SpendFuse {
  const { clock, site, hooks, log } = host;
  const counters = createCounters(host.database);
  const news = createBudgetNews({ host, budgets });

  async function planOf(call: BudgetedCall): Promise<BudgetPlan> {
    const applying = (await budgets()).filter(
      (budget) => appliesTo(budget, call.origin) && call.waived?.includes(budget.id) !== true,
    );
    const isWatched = hooks.hasFilter('svc_budget_reserve') !== false;
    if (!isWatched && applying.every(({ unit }) => unit === 'calls'))
      return { budgets: applying, cost: null, tokens: 0 };
    const use = await call.estimate();
    const plan = {
      budgets: applying,
      tokens: use.inputTokens + use.outputTokens,
      cost: await cost({ ...call, ...use }),
    };
    const { estimate: _counted, ...described } = call;
    return isWatched ? hooks.applyFiltersAsync('svc_budget_reserve', plan, described) : plan;
  }

  async function needsOf(plan: BudgetPlan, call: BudgetedCall): Promise<Need[]> {
    const timezone = await site.timezone();
    return plan.budgets.flatMap((budget): Need[] => {
      const amount = needOf(budget, plan, call);
      // What costs nothing is never refused, the sandbox's answers under a budget of dollars for one.
      return amount === 0
        ? []
        : [
            {
              budget,
              amount,
              limit: amountOf(budget),
              counter: counterOf(budget),
              period: periodName(budget.period, clock.now(), timezone),
            },
          ];
    });
  }

  return {
    async reserve(call) {
      const needs = await needsOf(await planOf(call), call);
      if (needs.length === 0) return null;
      const id = randomUUID();
      const short = await counters.reserve(id, needs, 2 * call.limit + settlingTime);
      if (short !== null) throw await news.refusal(short);
      return id;
    },
    async counted(counted) {
      try {
        for (const one of counted) await news.alert(one);
      } catch (error) {
        log.warn('Whether a budget is due for its alert could not be looked up.', { error });
      }
    },
  };
}

function appliesTo({ enabled, scope, module, bot_id }: Budget, origin: UsageOrigin): boolean {
  if (!enabled) return false;
  if (scope === 'rest') return origin.module === 'rest';
  if (scope === 'module') return origin.module === module;
  return scope === 'all' || origin.botId === bot_id;
}

/** What a call takes of a budget, as its counter counts. */
function needOf(
  { unit, unpriced, name, id }: Budget,
  { cost, tokens }: BudgetPlan,
  { provider, model }: BudgetedCall,
): number {
  if (unit === 'calls') return 1;
  if (unit === 'tokens') return Math.ceil(tokens);
  if (cost === null && unpriced === 'refuse')
    throw errors.budget_no_price({ values: { model, provider, budget: name }, data: { budget: id } });
  return Math.ceil(cost ?? 0);
}
