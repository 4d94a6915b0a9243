import {
  drawCharts,
  formatCount,
  formatDate,
  formatMoney,
  formatNumber,
  formatShortNumber,
  translateText,
} from '#plugin-api';
import type { ChartDay } from '#plugin-api';
import { formatCost } from '../../kit/format-cost.ts';
import type { UsageGroup } from './usage-queries.ts';

const metrics = [
  { id: 'calls', label: 'Calls' },
  { id: 'tokens', label: 'Tokens' },
  { id: 'cost', label: 'Cost' },
] as const;

export type Metric = (typeof metrics)[number]['id'];

/** The metric of a query; default calls. */
export function readMetric(value: unknown): Metric {
  return metrics.find(({ id }) => id === value)?.id ?? 'calls';
}

export interface ChartViewInit {
  /** Days with calls. */
  readonly days: readonly UsageGroup[];
  /** All days of the period. */
  readonly span: readonly string[];
  readonly metric: Metric;
  readonly link: (metric: Metric) => string;
}

/** In millionths of a dollar, as costs are counted. */
const dollar = 1_000_000;

/** The chart for the template, once for wide and once for narrow screens, with a description and a table of the same data. */
export function chartView({ days, span, metric, link }: ChartViewInit) {
  const byDay = new Map(days.map((day) => [day.name, day]));
  const values: ChartDay[] = span.map((name) => {
    const day = byDay.get(name);
    return { day: name, value: day ? metricValue(day, metric) : 0, failed: day && metric === 'calls' ? day.failed : 0 };
  });
  const hasFailed = values.some(({ failed }) => failed > 0);
  return {
    metrics: metrics.map(({ id, label }) => ({ label, href: link(id), current: id === metric })),
    title: `${metrics.find(({ id }) => id === metric)?.label ?? ''} per day`,
    description: describe(values, metric),
    ...(hasFailed && { good: 'Succeeded', hasFailed }),
    pictures: drawCharts({
      days: values,
      whole: metric !== 'cost',
      ...(metric === 'cost' && { unit: dollar }),
      format: metric === 'cost' ? formatMoney : formatShortNumber,
      title: (day) => dayTitle(day, metric),
    }),
    rows: days
      .map((day) => ({ ...day, tokens: day.inputTokens + day.outputTokens, costText: formatCost(day) }))
      .reverse(),
  };
}

function metricValue(day: UsageGroup, metric: Metric): number {
  if (metric === 'calls') return day.calls;
  return metric === 'cost' ? day.cost : day.inputTokens + day.outputTokens;
}

function dayTitle({ day, value, failed }: ChartDay, metric: Metric): string {
  const amount = metric === 'cost' ? formatMoney(value) : formatCount(value, metric.slice(0, -1));
  const text = failed > 0 ? translateText(`${amount}, ${formatNumber(failed)} failed`) : amount;
  return `${formatDate(day, 'date', 'UTC')}: ${text}`;
}

function describe(days: readonly ChartDay[], metric: Metric): string {
  const [first, last] = [days[0], days.at(-1)];
  const most = days.reduce(
    (highest, day) => (day.value > highest.value ? day : highest),
    days[0] ?? { day: '', value: 0, failed: 0 },
  );
  return (
    `A bar for each of ${formatCount(days.length, 'day')}, from ${formatDate(first?.day, 'date', 'UTC')} to ` +
    `${formatDate(last?.day, 'date', 'UTC')}. The highest is ${dayTitle(most, metric)}. The table below shows the same data.`
  );
}
