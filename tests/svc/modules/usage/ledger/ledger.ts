import { priceTable } from '../../../../../plugins/svc/modules/usage/prices/price.ts';
import type { Database } from '../../../../../host/database/database.ts';
import { createFakeClock, type FakeClock } from '../../../../../host/testing/fake-clock.ts';
import {
  createUsageLedger,
  type UsageLedgerParts,
} from '../../../../../plugins/svc/modules/usage/ledger/usage-ledger.ts';
import {
  budgetCallersMigration,
  budgetMigration,
  budgetRolesMigration,
  budgetDecimalsMigration,
} from '../../../../../plugins/svc/modules/budgets/guard/budget-tables.ts';
import {
  usageCallersMigration,
  usageMigration,
  usageReferenceMigration,
  usageRolesMigration,
  usageBilledMigration,
} from '../../../../../plugins/svc/modules/usage/ledger/usage-tables.ts';
import type { UsageRecord } from '../../../../../plugins/svc/modules/usage/ledger/usage-record.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

export const call: UsageRecord = {
  module: 'rest',
  route: '/generate',
  botId: null,
  kind: 'text',
  provider: 'acme',
  model: 'acme-1',
  inputTokens: 1000,
  outputTokens: 200,
  images: 0,
  duration: 340,
  outcome: 'ok',
};

export interface LedgerInit {
  readonly clock?: FakeClock;
  readonly log?: UsageLedgerParts['host']['log'];
  readonly timezone?: string;
  readonly isSandbox?: () => Promise<boolean>;
  readonly limits?: UsageLedgerParts['limits'];
}

/** A ledger on a database with its tables. A thousand tokens of acme-1 cost 2 cents in and 6 out. */
export async function openLedger(database: Database, init: LedgerInit = {}) {
  const clock = init.clock ?? createFakeClock();
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
  ]);
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
  const ledger = createUsageLedger({
    host: { database, clock, log: init.log ?? silentLog, site },
    prices: () => Promise.resolve(priceTable([{ provider: 'acme', model: 'acme-1', input: 20, output: 60 }], [])),
    isSandbox: init.isSandbox ?? (() => Promise.resolve(false)),
    ...(init.limits && { limits: init.limits }),
  });
  return { ledger, clock };
}

/** The numbers of a row; PostgreSQL gives large ones as text. */
export function numbers(row: Readonly<Record<string, unknown>> | undefined, ...names: string[]): (number | null)[] {
  return names.map((name) => (row?.[name] === null ? null : Number(row?.[name])));
}
