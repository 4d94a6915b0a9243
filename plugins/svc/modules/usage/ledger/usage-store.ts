import type { DatabaseApi } from '#plugin-api';
import { countUsage, type CountedBudget } from '../../budgets/guard/count-usage.ts';
import { usageDays, type NewUsageRow } from './usage-row.ts';
import { dayKeys, daySums, usageDaysTable, usageTable } from './usage-tables.ts';

export interface WriteUsage {
  readonly rows: readonly NewUsageRow[];
  /** The site's day of a moment. */
  readonly dayOf: (time: number) => string;
  /** Reservations with budgets that the calls settle. Default none. */
  readonly calls?: readonly string[];
}

/** Stores a few hundred calls at most, adds them to their days and to the budgets they count for, all or nothing. Answers those budgets. */
export async function writeUsage(
  database: Pick<DatabaseApi, 'transaction'>,
  { rows, dayOf, calls = [] }: WriteUsage,
): Promise<CountedBudget[]> {
  if (rows.length === 0) return [];
  return database.transaction(async (transaction) => {
    await transaction(usageTable).insert([...rows]);
    const sums = Object.fromEntries(
      daySums.map((sum) => [sum, transaction.raw('?? + ??', [`${usageDaysTable}.${sum}`, `excluded.${sum}`])]),
    );
    await transaction(usageDaysTable)
      .insert(usageDays(rows, dayOf))
      .onConflict(['day', ...dayKeys])
      .merge(sums);
    return countUsage(transaction, { rows, dayOf, calls });
  });
}

export interface ReferenceCost {
  /** Millionths of a US dollar, without the calls that have no price. */
  readonly cost: number;
  /** How many of the calls have no price. */
  readonly unpriced: number;
  readonly calls: number;
}

/** Sums the calls with a reference, failed ones too. */
export async function sumReference({ knex }: Pick<DatabaseApi, 'knex'>, reference: string): Promise<ReferenceCost> {
  const [row] = (await knex(usageTable)
    .where({ reference })
    .select({
      calls: knex.raw('count(*)'),
      cost: knex.raw('sum(cost)'),
      unpriced: knex.raw('sum(case when cost is null then 1 else 0 end)'),
    })) as Record<string, unknown>[];
  return {
    cost: Number(row?.['cost'] ?? 0),
    unpriced: Number(row?.['unpriced'] ?? 0),
    calls: Number(row?.['calls'] ?? 0),
  };
}

export interface SweepUsage {
  /** Milliseconds since the epoch: calls that ended before it go. */
  readonly before: number;
  /** The same border as a day of the site. */
  readonly beforeDay: string;
}

const sweptAtOnce = 2000;

/** Removes what is older, in steps that hold up no one else for long. Answers how many calls. */
export async function sweepUsage(
  { knex }: Pick<DatabaseApi, 'knex'>,
  { before, beforeDay }: SweepUsage,
): Promise<number> {
  let swept = 0;
  for (;;) {
    const oldest = knex(usageTable).select('id').where('time', '<', before).orderBy('time').limit(sweptAtOnce);
    const count = await knex(usageTable).whereIn('id', oldest).delete();
    swept += count;
    if (count < sweptAtOnce) break;
  }
  await knex(usageDaysTable).where('day', '<', beforeDay).delete();
  return swept;
}
