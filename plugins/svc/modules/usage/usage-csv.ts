import type { DatabaseApi } from '#plugin-api';
import type { UsageRow } from './ledger/usage-tables.ts';
import { csvLine, csvMark } from '../../kit/csv.ts';
import { plainDollars } from './money.ts';
import type { UsageFilter } from './usage-filter.ts';
import { listUsage, type UsagePlace } from './usage-queries.ts';

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
  ['cost_usd', (row) => plainDollars(row.cost)],
  ['duration_ms', (row) => row.duration],
  ['outcome', (row) => row.outcome],
  ['sandbox', (row) => row.sandbox],
  ['reference', (row) => row.reference ?? ''],
];

const rowsAtOnce = 1000;

/**
 * The calls a filter picks as CSV (RFC 4180, UTF-8 with a mark so that spreadsheets know it), newest first, read from the
 * database in steps: memory stays small however many there are. An unknown cost is empty.
 */
export async function* usageCsv(
  database: Pick<DatabaseApi, 'knex'>,
  { filter, timezone }: { readonly filter: UsageFilter; readonly timezone: string },
): AsyncGenerator<string> {
  yield csvMark + csvLine(columns.map(([name]) => name));
  let before: UsagePlace | undefined;
  for (;;) {
    const rows = await listUsage(database, { filter, timezone, limit: rowsAtOnce, before });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => csvLine(columns.map(([, read]) => read(row)))).join('');
    if (rows.length < rowsAtOnce) return;
    before = last;
  }
}
