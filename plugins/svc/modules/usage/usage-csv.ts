import type { DatabaseApi } from '#plugin-api';
import { plainDollars } from '../../kit/dollars.ts';
import { tokenKinds } from '../../kit/token-details.ts';
import { kindColumn, type UsageRow } from './ledger/usage-tables.ts';
import { csvLine, byteOrderMark } from '../../kit/csv.ts';
import type { Grouping, UsageFilter } from './usage-filter.ts';
import { listUsage, type UsageCursor } from './usage-queries.ts';
import type { UsageTotals } from './usage-totals.ts';

const columns: readonly (readonly [string, (row: UsageRow) => string | number])[] = [
  ['time', (row) => new Date(row.time).toISOString()],
  ['module', (row) => row.module],
  ['route', (row) => row.route ?? ''],
  ['bot_id', (row) => row.bot_id ?? ''],
  ['kind', (row) => row.kind],
  ['provider', (row) => row.provider],
  ['model', (row) => row.model],
  ['input_tokens', (row) => row.input_tokens],
  ['output_tokens', (row) => row.output_tokens],
  ['images', (row) => row.images],
  ['cost_usd', (row) => (row.cost === null ? '' : plainDollars(row.cost))],
  ['duration_ms', (row) => row.duration],
  ['outcome', (row) => row.outcome],
  ['sandbox', (row) => row.sandbox],
  ['reference', (row) => row.reference ?? ''],
  ['key_id', (row) => row.key_id ?? ''],
  ['user_id', (row) => row.user_id ?? ''],
  ['plugin', (row) => row.plugin ?? ''],
  ...tokenKinds.map((kind) => [kindColumn(kind), (row: UsageRow) => row[kindColumn(kind)]] as const),
  ['roles', (row) => row.roles ?? ''],
];

const batchSize = 1000;

/**
 * The calls of a filter as CSV (RFC 4180, UTF-8 with a byte order mark for spreadsheets), newest first, read from the
 * database in batches to keep memory small. An unknown cost is empty.
 */
export async function* usageCsv(
  database: Pick<DatabaseApi, 'knex'>,
  { filter, timezone }: { readonly filter: UsageFilter; readonly timezone: string },
): AsyncGenerator<string> {
  yield byteOrderMark + csvLine(columns.map(([name]) => name));
  let before: UsageCursor | undefined;
  for (;;) {
    const rows = await listUsage(database, { filter, timezone, limit: batchSize, before });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => csvLine(columns.map(([, read]) => read(row)))).join('');
    if (rows.length < batchSize) return;
    before = last;
  }
}

/** The totals of a grouping as CSV, in the order and with the names that REST has. */
export async function* totalsCsv(by: Grouping, read: () => Promise<readonly UsageTotals[]>): AsyncGenerator<string> {
  const sums = [
    'calls',
    'failed',
    'input_tokens',
    'output_tokens',
    'cached_tokens',
    'reasoning_tokens',
    'images',
  ] as const;
  const totals = await read();
  yield byteOrderMark + csvLine([by, ...sums, 'cost_usd', 'without_price']);
  yield totals
    .map((total) => {
      const cost = total.cost_usd === null ? '' : plainDollars(total.cost_usd * 1_000_000);
      return csvLine([total.name, ...sums.map((name) => total[name]), cost, total.without_price]);
    })
    .join('');
}
