import { startOfDay } from '#plugin-api';
import type { DatabaseApi, Knex } from '#plugin-api';
import { daySums, kindColumn, usageDaysTable, usageTable, type UsageRow } from './ledger/usage-tables.ts';
import { tokenKinds } from '../../kit/token-details.ts';
import { failed, filterNames, idFilters, type Grouping, type UsageFilter } from './usage-filter.ts';

/** Sums over calls. `cost` in millionths of a US dollar, without the `unpriced` calls; `duration` in milliseconds. */
export interface UsageSums {
  readonly calls: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly images: number;
  /** Of the tokens. */
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  readonly cost: number;
  readonly unpriced: number;
  readonly duration: number;
}

export type UsageGroup = UsageSums & { readonly name: string };

const none: UsageSums = {
  calls: 0,
  failed: 0,
  inputTokens: 0,
  outputTokens: 0,
  images: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  cost: 0,
  unpriced: 0,
  duration: 0,
};

/** Sums of the calls a filter picks, from the days' table: quick however many calls there are. */
export async function sumUsage({ knex }: Pick<DatabaseApi, 'knex'>, filter: UsageFilter): Promise<UsageSums> {
  const [row] = (await inDays(knex, filter).select(sums(knex))) as Record<string, unknown>[];
  return row ? sumsOf(row) : none;
}

/** The same by one property; days in their order, others with the most calls first. 0 or '' of an id: calls without one. */
export async function groupUsage(
  { knex }: Pick<DatabaseApi, 'knex'>,
  filter: UsageFilter,
  by: Grouping,
): Promise<UsageGroup[]> {
  const query = inDays(knex, filter).select({ name: by }).select(sums(knex)).groupBy(by);
  const rows = (await (by === 'day'
    ? query.orderBy('name')
    : query.orderBy([{ column: 'calls', order: 'desc' }, { column: 'name' }]))) as Record<string, unknown>[];
  return rows.map((row) => ({ name: String(row['name']), ...sumsOf(row) }));
}

/** Whether the ledger has any calls. */
export async function hasUsage({ knex }: Pick<DatabaseApi, 'knex'>): Promise<boolean> {
  return (await knex(usageDaysTable).select('day').limit(1)).length > 0;
}

/** The values of the period's calls, for the options of a form. */
export async function usedValues(
  { knex }: Pick<DatabaseApi, 'knex'>,
  { from, to }: UsageFilter,
  name: 'provider' | 'model' | 'module' | 'outcome' | 'plugin',
): Promise<string[]> {
  const rows = (await knex(usageDaysTable)
    .distinct({ value: name })
    .whereBetween('day', [from, to])
    .orderBy('value')
    .limit(500)) as { value: string }[];
  return rows.map(({ value }) => value);
}

/** A position in the list of calls: right after the call that ended at `time` and has this id. */
export interface UsageCursor {
  readonly time: number;
  readonly id: number;
}

export interface ListUsage {
  readonly filter: UsageFilter;
  readonly timezone: string;
  readonly limit: number;
  /** Calls older than this one. */
  readonly before?: UsageCursor | undefined;
  /** The calls right after this one, newer than it. */
  readonly after?: UsageCursor | undefined;
}

/** Calls, newest first, from a cursor on: as fast on the last page as on the first. */
export async function listUsage(
  { knex }: Pick<DatabaseApi, 'knex'>,
  { filter, timezone, limit, before, after }: ListUsage,
): Promise<UsageRow[]> {
  const order = after ? 'asc' : 'desc';
  // One bound at each end, the narrower one: SQLite uses only one of two.
  const [first, last] = [startOfDay(filter.from, timezone), endOfDay(filter.to, timezone) - 1];
  const query = knex(usageTable)
    .whereBetween('time', [Math.max(first, after?.time ?? first), Math.min(last, before?.time ?? last)])
    .orderBy([
      { column: 'time', order },
      { column: 'id', order },
    ])
    .limit(limit);
  applyFilter(query, filter);
  if (before) query.where((condition) => isBeyond(condition, '<', before));
  if (after) query.where((condition) => isBeyond(condition, '>', after));
  const rows = ((await query.select('*')) as Record<string, unknown>[]).map(rowOf);
  return after ? rows.reverse() : rows;
}

/** Calls beyond the cursor; the id decides between calls of one millisecond. */
function isBeyond(query: Knex.QueryBuilder, operator: '<' | '>', { time, id }: UsageCursor): void {
  void query.where('time', operator, time).orWhere('id', operator, id);
}

function endOfDay(day: string, timezone: string): number {
  return startOfDay(new Date(Date.parse(`${day}T00:00:00Z`) + 24 * 3600 * 1000).toISOString().slice(0, 10), timezone);
}

function inDays(knex: Knex, filter: UsageFilter): Knex.QueryBuilder {
  const query = knex(usageDaysTable).whereBetween('day', [filter.from, filter.to]);
  applyFilter(query, filter);
  return query;
}

function applyFilter(query: Knex.QueryBuilder, { values }: UsageFilter): void {
  for (const name of filterNames) {
    const value = values[name];
    if (value === undefined) continue;
    if (name === 'sandbox') void query.where(name, value === '1' ? 1 : 0);
    // Literal SQL, so that the database can use the partial index of failed calls.
    else if (name === 'outcome' && value === failed) void query.whereRaw("outcome <> 'ok'");
    else void query.where(name, idFilters.includes(name) ? Number(value) : value);
  }
}

function sums(knex: Knex): Record<string, Knex.Raw> {
  const added = Object.fromEntries(daySums.map((name) => [name, knex.raw('sum(??)', [name])]));
  return { ...added, failed: knex.raw("sum(case when outcome = 'ok' then 0 else calls end)") };
}

function sumsOf(row: Readonly<Record<string, unknown>>): UsageSums {
  const number = (name: string): number => Number(row[name] ?? 0);
  return {
    calls: number('calls'),
    failed: number('failed'),
    inputTokens: number('input_tokens'),
    outputTokens: number('output_tokens'),
    images: number('images'),
    cachedTokens: number('cached_input_tokens'),
    reasoningTokens: number('reasoning_tokens'),
    cost: number('cost'),
    unpriced: number('unpriced'),
    duration: number('duration'),
  };
}

/** PostgreSQL returns large numbers as text. */
function rowOf(row: Readonly<Record<string, unknown>>): UsageRow {
  const wide = [
    ...['id', 'time', 'bot_id', 'key_id', 'user_id', 'input_tokens', 'output_tokens', 'cost', 'duration'],
    ...tokenKinds.map(kindColumn),
  ];
  return {
    ...row,
    ...Object.fromEntries(wide.map((name) => [name, row[name] === null ? null : Number(row[name])])),
  } as unknown as UsageRow;
}
