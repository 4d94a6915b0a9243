import type { Metric, MetricSample } from '#plugin-api';
import { toDollars } from '../../../kit/dollars.ts';
import type { NewUsageRow } from './usage-row.ts';

/** Who calls, for the label `by`. */
const callers = {
  module: (row: NewUsageRow) => row.module,
  bot: (row: NewUsageRow) => row.bot_id,
  key: (row: NewUsageRow) => row.key_id,
  user: (row: NewUsageRow) => row.user_id,
  plugin: (row: NewUsageRow) => row.plugin,
} as const;

/** Values of the label `name` for each `by`, so that a site with many users has few series. Later ones count as `other`. */
export const mostNames = 50;

interface Counts {
  calls: number;
  failed: number;
  tokens: number;
  /** Millionths of a US dollar. */
  cost: number;
}

/** Counts the calls that this process stored, by who called. */
export interface UsageMetrics {
  count(rows: readonly NewUsageRow[]): void;
  /** Each call counts once for each `by` that it has. */
  read(): readonly Metric[];
}

export function createUsageMetrics(): UsageMetrics {
  const counts = new Map(Object.keys(callers).map((by) => [by, new Map<string, Counts>()]));

  function add(by: string, value: string, row: NewUsageRow): void {
    const names = counts.get(by) ?? new Map<string, Counts>();
    const name = names.has(value) || names.size < mostNames ? value : 'other';
    const known = names.get(name) ?? { calls: 0, failed: 0, tokens: 0, cost: 0 };
    known.calls += 1;
    known.failed += row.outcome === 'ok' ? 0 : 1;
    known.tokens += row.input_tokens + row.output_tokens;
    known.cost += row.cost ?? 0;
    names.set(name, known);
  }

  const samples = (valueOf: (counted: Counts) => number): MetricSample[] =>
    [...counts].flatMap(([by, names]) =>
      [...names].map(([name, counted]) => ({ labels: { by, name }, value: valueOf(counted) })),
    );
  const counter = (name: string, help: string, valueOf: (counted: Counts) => number): Metric => ({
    name: `svc_usage_${name}_total`,
    type: 'counter',
    help: `${help}, by module, chatbot, named key, user and plugin.`,
    samples: samples(valueOf),
  });

  return {
    count(rows) {
      for (const row of rows)
        for (const [by, read] of Object.entries(callers)) {
          const value = read(row);
          if (value !== null) add(by, String(value), row);
        }
    },
    read: () => [
      counter('calls', 'Calls to providers', ({ calls }) => calls),
      counter('failed_calls', 'Calls to providers that failed', ({ failed }) => failed),
      counter('tokens', 'Tokens of calls to providers', ({ tokens }) => tokens),
      counter('cost_dollars', 'Estimated cost of calls to providers', ({ cost }) => toDollars(cost)),
    ],
  };
}
