import type { Database } from '../../../../host/database/database.ts';
import { createHooks } from '../../../../host/hooks/hooks.ts';
import { createFakeClock, type FakeClock } from '../../../../host/testing/fake-clock.ts';
import { createBudgetGuard } from '../../../../plugins/svc/modules/budgets/guard/budget-guard.ts';
import { createBudgetReservations } from '../../../../plugins/svc/modules/budgets/guard/budget-reservations.ts';
import {
  budgetCallersMigration,
  budgetMigration,
  budgetRolesMigration,
  budgetDecimalsMigration,
  reservationOwnersMigration,
} from '../../../../plugins/svc/modules/budgets/guard/budget-tables.ts';
import { createRecordUsage } from '../../../../plugins/svc/modules/usage/record-usage.ts';
import { findPrice, priceTable } from '../../../../plugins/svc/modules/usage/prices/price.ts';
import type { RecordedCall } from '../../../../plugins/svc/ai/ports.ts';
import { createUsageLedger } from '../../../../plugins/svc/modules/usage/ledger/usage-ledger.ts';
import {
  usageCallersMigration,
  usageMigration,
  usageReferenceMigration,
  usageRolesMigration,
  usageBilledMigration,
} from '../../../../plugins/svc/modules/usage/ledger/usage-tables.ts';
import { budgetDefaults, type Budget } from '../../../../plugins/svc/modules/budgets/budget.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

/** An embedding of a thousand tokens costs 1,000 millionths, an image of `drawn` 50,000. */
const prices = priceTable(
  [
    { provider: 'acme', model: 'acme-1', input: 20, output: 60 },
    { provider: 'acme', model: 'drawn', image: 0.05 },
    { provider: 'acme', model: 'drawn', size: '1024x1792', quality: 'hd' as const, image: 0.12 },
    { provider: 'acme', model: 'embedded', input: 1 },
  ],
  [],
);

type Result = { readonly inputTokens: number; readonly outputTokens: number };

export interface NodeInit {
  readonly budgets?: readonly Budget[];
  readonly clock?: FakeClock;
  readonly timezone?: string;
  /** Roles of users by id. */
  readonly roles?: Readonly<Record<number, readonly string[]>>;
}

export function budget(settings: Partial<Budget> = {}): Budget {
  return { ...budgetDefaults, id: 'main', name: 'Main', unit: 'calls', amount: 10, ...settings };
}

/** One node's budget guard and ledger on a database. A thousand tokens of acme-1 cost 2 cents in and 6 out: 32,000 millionths for 1,000 in and 200 out. */
export async function openNode(database: Database, init: NodeInit = {}) {
  await database.migrate('svc', [
    usageMigration,
    budgetMigration,
    usageReferenceMigration,
    budgetCallersMigration,
    usageCallersMigration,
    usageRolesMigration,
    usageBilledMigration,
    budgetRolesMigration,
    budgetDecimalsMigration,
    reservationOwnersMigration,
  ]);
  const clock = init.clock ?? createFakeClock();
  const hooks = createHooks();
  const state = { budgets: init.budgets ?? [budget()], sandbox: false, roles: init.roles ?? {} };
  const site = {
    url: 'http://localhost',
    role: 'all' as const,
    version: '1.0.0',
    dataDir: null,
    id: async () => 'a site of tests',
    name: () => Promise.resolve('Site'),
    timezone: () => Promise.resolve(init.timezone ?? 'UTC'),
    addPage: () => () => undefined,
  };
  const host = { database, clock, log: silentLog, site, hooks };
  const budgets = () => Promise.resolve(state.budgets);
  const guard = createBudgetGuard({
    budgets,
    isFiltered: () => hooks.hasFilter('svc_budget_reserve') !== false,
    load: async () =>
      createBudgetReservations({
        host,
        budgets,
        costOf: async (usage) => (await ledger.price(usage)).cost,
        findPrice: (model) => Promise.resolve(findPrice(model, prices)),
      }),
  });
  const ledger = createUsageLedger({
    host,
    prices: () => Promise.resolve(prices),
    isSandbox: () => Promise.resolve(state.sandbox),
    counter: guard.counter,
  });

  const recordUsage = createRecordUsage({
    clock,
    log: silentLog,
    ledger,
    guard,
    rolesOf: (userId) => Promise.resolve(state.roles[userId] ?? []),
  });

  /** A call that used a thousand tokens in and 200 out, unless changed. */
  function call(changes: Partial<RecordedCall<Result>> = {}) {
    return recordUsage<Result>({
      kind: 'text',
      provider: 'acme',
      model: 'acme-1',
      origin: { module: 'rest', route: '/generate', botId: null },
      limit: 60_000,
      estimate: () => Promise.resolve({ inputTokens: 1000, outputTokens: 200, images: 0 }),
      run: () => Promise.resolve({ inputTokens: 1000, outputTokens: 200 }),
      count: (result) => ({ model: 'acme-1', ...result }),
      ...changes,
    });
  }
  return { database, clock, hooks, ledger, guard, recordUsage, state, call };
}

/** Counters by their names, with whole numbers. */
export async function countersOf(
  database: Database,
): Promise<Record<string, { used: number; reserved: number; refused: number }>> {
  const rows = await database.knex('svc_budget_counters').orderBy('counter').select('*');
  return Object.fromEntries(
    rows.map(({ counter, period, used, reserved, refused }) => [
      `${counter} ${period}`,
      { used: Number(used), reserved: Number(reserved), refused: Number(refused) },
    ]),
  );
}
