import type { TestHost } from '#testing';
import type { BilledCall } from './billed-calls.ts';
import type { Counted, ListPrice, Vendor } from './vendors.ts';

const precision = 1_000_000n;
const exact = (figure: number): bigint => BigInt(Math.round(figure * 1_000_000));

/** Millionths of a millionth of a dollar, by the vendor's own price list. */
function priceOf(vendor: Vendor, { input, cached, written, output, reasoning, cost }: Counted): bigint {
  if (vendor.reportsCost === true) return BigInt(cost ?? 0) * 1000n;
  const long = vendor.longPrices;
  const list: ListPrice = long !== undefined && input >= long.from ? long : vendor.prices;
  const tokens: readonly (readonly [number, number | undefined])[] = [
    [input - cached - written, list.input],
    [cached, list.cached_input ?? list.input],
    [written, list.cache_write ?? list.input],
    [output - reasoning, list.output],
    [reasoning, list.reasoning ?? list.output],
  ];
  return tokens.reduce((sum, [count, price]) => sum + BigInt(count) * exact(price ?? 0), 0n);
}

interface Row {
  readonly provider: string;
  readonly model: string;
  readonly [column: string]: unknown;
}

export interface Comparison {
  /** A sentence for each call whose row differs from its bills. */
  readonly differences: readonly string[];
  /** Calls whose whole usage was reported, in millionths of a millionth of a dollar and in tokens. */
  readonly billed: { readonly calls: number; readonly cost: bigint; readonly tokens: number };
  readonly recorded: { readonly cost: bigint; readonly tokens: number };
  /** Calls with something that no usage was reported for. */
  readonly estimated: number;
}

/** Compares the rows of the usage ledger with the bills of the vendors: each call has one row, in its order per model. */
export async function compareLedger(host: TestHost, calls: readonly BilledCall[]): Promise<Comparison> {
  const rows = (await host.database.knex('svc_usage').orderBy('id').select('*')) as Row[];
  const queues = new Map<string, Row[]>();
  for (const row of rows) {
    const name = `${row.provider} ${row.model}`;
    queues.set(name, [...(queues.get(name) ?? []), row]);
  }
  const differences: string[] = [];
  const sum = { calls: 0, cost: 0n, tokens: 0, recordedCost: 0n, recordedTokens: 0, estimated: 0 };
  for (const call of calls) {
    const row = queues.get(`${call.vendor.id} ${call.model}`)?.shift();
    const difference = row === undefined ? 'no row in the ledger' : compareRow(row, call);
    if (difference !== null) differences.push(`${difference} | ${call.title}`);
    if (row === undefined) continue;
    if (call.bills.some(isUnreported)) {
      sum.estimated += 1;
      continue;
    }
    const all = totalOf(call);
    sum.calls += 1;
    sum.cost += all.cost;
    sum.tokens += all.input + all.output;
    sum.recordedCost += exact(Number(row['cost']));
    sum.recordedTokens += Number(row['input_tokens']) + Number(row['output_tokens']);
  }
  const left = [...queues.values()].flat().length;
  if (left > 0) differences.push(`${String(left)} rows without a call`);
  return {
    differences,
    billed: { calls: sum.calls, cost: sum.cost, tokens: sum.tokens },
    recorded: { cost: sum.recordedCost, tokens: sum.recordedTokens },
    estimated: sum.estimated,
  };
}

function isUnreported({ reported, isFree, isPartial }: BilledCall['bills'][number]): boolean {
  return isPartial || (reported === null && !isFree);
}

function totalOf({ vendor, bills }: BilledCall) {
  const total = { input: 0, output: 0, cached: 0, reasoning: 0, cost: 0n };
  for (const { reported } of bills) {
    if (reported === null) continue;
    total.input += reported.input;
    total.output += reported.output;
    total.cached += reported.cached;
    total.reasoning += reported.reasoning;
    total.cost += priceOf(vendor, reported);
  }
  return total;
}

function compareRow(row: Row, call: BilledCall): string | null {
  const total = totalOf(call);
  const got = {
    input: Number(row['input_tokens']),
    output: Number(row['output_tokens']),
    cached: Number(row['cached_input_tokens']),
    reasoning: Number(row['reasoning_tokens']),
    cost: exact(Number(row['cost'])),
  };
  const said = (figures: typeof got): string =>
    `${String(figures.input)}+${String(figures.output)} tokens (${String(figures.cached)} cached, ${String(figures.reasoning)} reasoning), ${String(Number(figures.cost) / Number(precision))} millionths`;
  const estimated = call.bills.filter(isUnreported);
  const isRight =
    estimated.length === 0
      ? said(got) === said(total)
      : got.cached === total.cached &&
        got.cost > total.cost &&
        // What was sent is estimated where nothing was reported, and what was written where not all of it was.
        (estimated.every(({ isPartial }) => isPartial) ? got.input === total.input : got.input > total.input) &&
        got.output >= total.output;
  return isRight ? null : `billed ${said(total)}, recorded ${said(got)} (${String(row['outcome'])})`;
}
