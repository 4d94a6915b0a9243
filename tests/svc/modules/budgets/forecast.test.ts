import { expect } from 'chai';
import { forecastView } from '../../../../plugins/svc/modules/budgets/budgets-view.ts';
import type { BudgetStatus } from '../../../../plugins/svc/modules/budgets/guard/budget-status.ts';

const day = 86_400_000;
const startsAt = Date.UTC(2026, 10, 1);

function status(init: Partial<BudgetStatus>): BudgetStatus {
  const budget = { unit: 'calls' } as BudgetStatus['budget'];
  const common = { budget, period: '2026-11', startsAt, endsAt: startsAt + 30 * day, reserved: 0, left: 0, refused: 0 };
  return { ...common, amount: 300, used: 0, state: 'ok', ...init };
}

describe('the forecast of a budget', () => {
  it('names the day on which it is used up, or what is used at the end', () => {
    const tenth = startsAt + 10 * day;
    expect(forecastView(status({ used: 200 }), tenth)).to.deep.equal({ usedUpAt: startsAt + 15 * day });
    expect(forecastView(status({ used: 50 }), tenth)).to.deep.equal({ atEnd: '150 calls' });
    expect(forecastView(status({ used: 0 }), tenth)).to.deep.equal({ atEnd: '0 calls' });
  });

  it('says nothing at the start of a period, and of budgets that are off or used up', () => {
    expect(forecastView(status({ used: 20 }), startsAt + day)).to.deep.equal({ isEarly: true });
    expect(forecastView(status({ used: 300, state: 'exhausted' }), startsAt + 10 * day)).to.equal(null);
    expect(forecastView(status({ state: 'off' }), startsAt + 10 * day)).to.equal(null);
  });
});
