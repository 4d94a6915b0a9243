// Runs in a process of its own: counting calls would reset the coverage of the process.
import { Session } from 'node:inspector/promises';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { createGenerateText } from '../../../plugins/svc/ai/generate-text.ts';
import { budgetDefaults } from '../../../plugins/svc/modules/budgets/budget.ts';
import { BudgetRefusal, withBudgetFallback } from '../../../plugins/svc/modules/budgets/guard/budget-guard.ts';
import { noFailover } from '../../../plugins/svc/modules/failover/failover.ts';
import { createWithFailover } from '../../../plugins/svc/modules/failover/with-failover.ts';
import { createRecordUsage } from '../../../plugins/svc/modules/usage/record-usage.ts';
import { errors } from '../../../plugins/svc/kit/errors.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { answer, overloaded, scripted, services } from './helpers.ts';

/** How often functions of a file are entered while some work runs, by V8's count of calls. */
async function entriesOf(file: string, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const functions = result.find(({ url }) => url.split('?')[0]?.endsWith(file))?.functions ?? [];
    // Those without a name are callbacks, and the module itself.
    const entered = functions.filter(({ functionName, ranges }) => functionName !== '' && ranges[0]?.count);
    return Object.fromEntries(entered.map(({ functionName, ranges }) => [functionName, ranges[0]?.count ?? 0]));
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

/** A text whose first provider is overloaded, so that it is retried; whose fallback a budget refuses, for a cheaper model. */
async function generateWithEveryPolicy() {
  const [first, second] = [scripted(overloaded), scripted(answer)];
  const base = await services({
    providers: [
      { ...first, id: 'first' },
      { ...second, id: 'second' },
    ],
  });
  const budget = {
    ...budgetDefaults,
    id: 'main',
    name: 'Main',
    amount: 1,
    at_limit: 'fallback' as const,
    fallback_provider: 'second',
    fallback_model: 'cheap',
  };
  const reserved: string[] = [];
  const recordUsage = createRecordUsage({
    clock: base.clock,
    log: silentLog,
    ledger: {
      record: () => undefined,
      price: () => Promise.resolve({ cost: 0, sandbox: false }),
      settle: () => Promise.resolve(),
    },
    guard: {
      explain: () => Promise.reject(new Error('No dry run is made here.')),
      reserve({ provider, model, bypassedBudgetIds = [] }) {
        reserved.push(`${provider}/${model}`);
        if (provider === 'first' || bypassedBudgetIds.includes('main')) return Promise.resolve(null);
        return Promise.reject(errors.budget_exhausted({ cause: new BudgetRefusal(budget) }));
      },
    },
  });
  const withFailover = createWithFailover({
    host: { clock: base.clock, hooks: createHooks(), log: silentLog },
    failover: {
      get: () => Promise.resolve({ ...noFailover, enabled: true, text: [{ provider: 'second', model: 'expensive' }] }),
    },
  });
  const generateText = createGenerateText({ ...base, recordUsage, withFailover, withBudgetFallback });
  const entries = await entriesOf('/plugins/svc/ai/generate-text.ts', () =>
    generateText({ provider: 'first', model: 'a', messages: [{ role: 'user', content: 'Hi' }] }),
  );
  const attempts = [...first.requests.map(() => 'first'), ...second.requests.map(() => 'second')];
  return { entries, reserved, attempts };
}

/** Two calls, as a check of the count. */
async function generateTwice() {
  const call = { provider: 'scripted', model: 'a', messages: [{ role: 'user', content: 'Hi' }] } as const;
  const generateText = createGenerateText(await services({ providers: [scripted(answer)] }));
  return entriesOf('/plugins/svc/ai/generate-text.ts', async () => {
    await generateText(call);
    await generateText(call);
  });
}

process.stdout.write(JSON.stringify({ once: await generateWithEveryPolicy(), twice: await generateTwice() }));
