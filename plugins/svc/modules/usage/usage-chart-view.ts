import { formatShortNumber } from '#plugin-api';
import { money } from './money.ts';
import { drawChart, type ChartDay } from '../../admin-ui/bar-chart.ts';
import type { UsageGroup } from './usage-queries.ts';

const metrics = [
  { id: 'calls', label: 'Calls' },
  { id: 'tokens', label: 'Tokens' },
  { id: 'cost', label: 'Cost' },
] as const;

export type Metric = (typeof metrics)[number]['id'];

/** What the chart shows; calls unless something else is asked for. */
export function metricOf(asked: unknown): Metric {
  return metrics.find(({ id }) => id === asked)?.id ?? 'calls';
}

export interface ChartViewInit {
  /** Days with calls. */
  readonly days: readonly UsageGroup[];
  /** All days of the period. */
  readonly span: readonly string[];
  readonly metric: Metric;
  readonly address: (metric: Metric) => string;
}

/** The chart as the template draws it, once for wide and once for narrow screens, with a description and the same as a table. */
export function chartView({ days, span, metric, address }: ChartViewInit) {
  const byDay = new Map(days.map((day) => [day.name, day]));
  const values: ChartDay[] = span.map((name) => {
    const day = byDay.get(name);
    return { day: name, value: day ? valueOf(day, metric) : 0, failed: day && metric === 'calls' ? day.failed : 0 };
  });
  const draw = (width: number) =>
    drawChart({
      width,
      days: values,
      whole: metric !== 'cost',
      format: metric === 'cost' ? money : formatShortNumber,
      title: (day) => titleOf(day, metric),
    });
  return {
    metrics: metrics.map(({ id, label }) => ({ label, href: address(id), current: id === metric })),
    title: `${metrics.find(({ id }) => id === metric)?.label ?? ''} per day`,
    description: describe(values, metric),
    hasFailed: values.some(({ failed }) => failed > 0),
    pictures: [
      { name: 'wide', ...draw(720) },
      { name: 'narrow', ...draw(340) },
    ],
    rows: days
      .map((day) => ({ ...day, tokens: day.inputTokens + day.outputTokens, costText: money(day.cost) }))
      .reverse(),
  };
}

function valueOf(day: UsageGroup, metric: Metric): number {
  if (metric === 'calls') return day.calls;
  return metric === 'cost' ? day.cost : day.inputTokens + day.outputTokens;
}

function titleOf({ day, value, failed }: ChartDay, metric: Metric): string {
  const amount = metric === 'cost' ? money(value) : `${value.toLocaleString('en-GB')} ${metric}`;
  return `${day}: ${amount}${failed > 0 ? `, ${failed.toLocaleString('en-GB')} failed` : ''}`;
}

function describe(days: readonly ChartDay[], metric: Metric): string {
  const [first, last] = [days[0], days.at(-1)];
  const most = days.reduce(
    (highest, day) => (day.value > highest.value ? day : highest),
    days[0] ?? { day: '', value: 0, failed: 0 },
  );
  return `A bar for each of ${days.length} ${days.length === 1 ? 'day' : 'days'}, from ${first?.day ?? ''} to ${last?.day ?? ''}. The most on ${titleOf(most, metric)}. The table below holds the same figures.`;
}
