import { storableText } from '#plugin-api';
import { tokenKinds, type TokenDetails, type TokenKind } from '../../../kit/token-details.ts';
import { isBilled } from '../../../kit/billed-calls.ts';
import type { UsageRecord } from './usage-record.ts';
import { dayKeys, daySums, kindColumn, longest, roleDaySums, type KindColumns, type UsageRow } from './usage-tables.ts';

/** A call that is not stored yet, with its price. */
export interface PendingUsage {
  readonly usage: UsageRecord;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly sandbox: boolean;
  /** Millionths of a US dollar, null without a price. */
  readonly cost: number | null;
}

export type NewUsageRow = Omit<UsageRow, 'id'>;

/** The row of a call, in a form that every database accepts. */
export function usageRow({ usage, time, sandbox, cost }: PendingUsage): NewUsageRow {
  const counted = wholeCounts(usage);
  return {
    time,
    module: text(usage.module, longest.module),
    route: usage.route === null ? null : text(usage.route, longest.route),
    bot_id: usage.botId,
    kind: text(usage.kind, longest.kind),
    provider: text(usage.provider, longest.provider),
    model: text(usage.model, longest.model),
    input_tokens: counted.inputTokens,
    output_tokens: counted.outputTokens,
    ...(Object.fromEntries(
      tokenKinds.map((kind) => [kindColumn(kind), whole(usage.tokenDetails?.[kind] ?? 0)]),
    ) as KindColumns),
    images: counted.images,
    cost: cost === null ? null : fine(cost),
    duration: whole(usage.duration),
    outcome: text(usage.outcome, longest.outcome),
    sandbox: sandbox ? 1 : 0,
    reference:
      usage.reference === undefined || usage.reference === null ? null : text(usage.reference, longest.reference),
    key_id: usage.caller?.kind === 'named-key' ? usage.caller.id : null,
    user_id: usage.userId !== undefined && usage.userId > 0 ? usage.userId : null,
    plugin: usage.plugin === undefined ? null : text(usage.plugin, longest.plugin),
    roles: usage.roles === undefined || usage.roles.length === 0 ? null : usage.roles.join(),
  };
}

type Sums = Readonly<Record<string, string | number>>;

export type UsageDay = Readonly<
  Record<'day' | (typeof dayKeys)[number], string | number> & Record<(typeof daySums)[number], number>
>;

/** The sums that rows add to their days. */
export function usageDays(rows: readonly NewUsageRow[], dayOf: (time: number) => string): UsageDay[] {
  const none = { bot_id: 0, key_id: 0, user_id: 0, plugin: '' };
  const keysOf = (row: NewUsageRow): Sums => ({
    day: dayOf(row.time),
    ...Object.fromEntries(dayKeys.map((key) => [key, row[key] ?? none[key as keyof typeof none]])),
  });
  return sumRows(
    rows.map((row) => ({ row, keys: keysOf(row) })),
    daySums,
  ) as unknown as UsageDay[];
}

/** The same by role: a row counts for each role of its user. */
export function usageRoleDays(rows: readonly NewUsageRow[], dayOf: (time: number) => string): Sums[] {
  const entries = rows.flatMap((row) =>
    (row.roles?.split(',') ?? []).map((role) => ({ row, keys: { day: dayOf(row.time), role, outcome: row.outcome } })),
  );
  return sumRows(entries, roleDaySums);
}

/** Sorted by the keys, so that two nodes that write the same days never deadlock. */
function sumRows(
  entries: readonly { readonly row: NewUsageRow; readonly keys: Sums }[],
  sums: readonly string[],
): Sums[] {
  const days = new Map<string, Record<string, string | number>>();
  for (const { row, keys } of entries) {
    const name = JSON.stringify(Object.values(keys));
    const day = days.get(name) ?? { ...keys, ...Object.fromEntries(sums.map((sum) => [sum, 0])) };
    for (const sum of sums) day[sum] = Number(day[sum]) + addedBy(row, sum);
    days.set(name, day);
  }
  return [...days].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, day]) => day);
}

function addedBy(row: NewUsageRow, sum: string): number {
  if (sum === 'calls') return 1;
  if (sum === 'billed') return isBilled(row) ? 1 : 0;
  if (sum === 'unpriced') return row.cost === null ? 1 : 0;
  return Number(row[sum as keyof NewUsageRow] ?? 0);
}

type Counts = Pick<UsageRecord, 'inputTokens' | 'outputTokens' | 'tokenDetails' | 'images' | 'seconds'>;

/** The counts of a call as they are stored and priced. */
export function wholeCounts<Usage extends Counts>(usage: Usage): Usage {
  if (areWhole(usage)) return usage;
  return {
    ...usage,
    inputTokens: whole(usage.inputTokens),
    outputTokens: whole(usage.outputTokens),
    tokenDetails: usage.tokenDetails && wholeDetails(usage.tokenDetails),
    images: Math.min(whole(usage.images), 1_000_000),
    seconds: usage.seconds === undefined ? undefined : Math.min(whole(usage.seconds), 1_000_000),
  };
}

function areWhole({ inputTokens, outputTokens, tokenDetails, images, seconds = 0 }: Counts): boolean {
  for (const kind in tokenDetails) if (!isCount(tokenDetails[kind as TokenKind] ?? NaN)) return false;
  return isCount(inputTokens) && isCount(outputTokens) && isCount(images, 1_000_000) && isCount(seconds, 1_000_000);
}

function isCount(value: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Math.min(whole(value), most) === value;
}

function wholeDetails(details: TokenDetails): TokenDetails {
  return Object.fromEntries(Object.entries(details).map(([kind, count]) => [kind, whole(count)]));
}

/** Upstreams have reported fractions, negative numbers and no numbers at all. */
function whole(value: number): number {
  return Number.isFinite(value) ? Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(value))) : 0;
}

/** Millionths with six decimals: an embedding of five tokens costs a tenth of one. */
function fine(value: number): number {
  return Number.isFinite(value) ? Math.min(1e12, Math.max(0, Math.round(value * 1e6) / 1e6)) : 0;
}

/** Control characters would garble lists. */
function text(value: string, length: number): string {
  if (value.length <= length && /^[ -~]*$/.test(value)) return value;
  return storableText(value.slice(0, length).replace(/[\u0000-\u001f\u007f]/g, ' '));
}
