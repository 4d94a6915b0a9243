import {
  drawCharts,
  formatDate,
  formatNumber,
  formatShortNumber,
  localDay,
  localMinute,
  translateText,
  type ChartDay,
} from '#plugin-api';
import type { HourCounts, HourlyCounts } from '../hourly-counts.ts';

const hour = 3_600_000;

export const spans = [
  { id: 'day', label: '24 hours', hours: 24, per: 'hour' },
  { id: 'week', label: '7 days', hours: 7 * 24, per: 'day' },
  { id: 'month', label: '30 days', hours: 30 * 24, per: 'day' },
] as const;

type Span = (typeof spans)[number];

export function findSpan(asked: unknown): Span {
  return spans.find(({ id }) => id === asked) ?? spans[0];
}

interface Bar extends ChartDay {
  readonly retried: number;
}

export interface DeliveryChartInit {
  readonly hours: HourlyCounts;
  readonly span: Span;
  readonly now: number;
  readonly timezone: string;
  /** The endpoint to show; null: all. */
  readonly endpoint: { readonly id: string; readonly name: string } | null;
  /** URL of this page with another span. */
  readonly address: (span: string) => string;
}

/** Chart of deliveries per hour or day for wide and narrow screens, with a description and the rows of a table. */
export async function deliveryChart({
  hours,
  span,
  now,
  timezone,
  endpoint,
  address,
}: DeliveryChartInit): Promise<Record<string, unknown>> {
  const last = Math.floor(now / hour) * hour;
  const since = last - (span.hours - 1) * hour;
  const figures = await hours.read({
    since,
    until: last + hour,
    ...(endpoint !== null && { endpointId: endpoint.id }),
  });
  const nameFor = (time: number): string =>
    span.per === 'hour' ? localMinute(time, timezone) : localDay(time, timezone);
  const bars = toBars(
    figures,
    [...new Set(Array.from({ length: span.hours }, (_, index) => nameFor(since + index * hour)))],
    nameFor,
  );
  const sum = (pick: (bar: Bar) => number): number => bars.reduce((total, bar) => total + pick(bar), 0);
  const failed = sum((bar) => bar.failed);
  const [done, refused] = [formatNumber(sum((bar) => bar.value) - failed), formatNumber(failed)];
  const retried = formatNumber(sum((bar) => bar.retried));
  const nameOf = (day: string): string =>
    span.per === 'hour' ? formatDate(`${day}Z`, 'dateTime', 'UTC') : formatDate(day, 'date', 'UTC');
  const [from, to] = [nameOf(bars[0]?.day ?? ''), nameOf(bars.at(-1)?.day ?? '')];
  return {
    spans: spans.map(({ id, label }) => ({ label, href: address(id), current: id === span.id })),
    title: span.per === 'hour' ? 'Deliveries per hour' : 'Deliveries per day',
    isEmpty: sum((bar) => bar.value) === 0,
    description: [
      translateText(
        span.per === 'hour'
          ? `One bar per hour from ${from} to ${to}: ${done} delivered, ${refused} failed.`
          : `One bar per day from ${from} to ${to}: ${done} delivered, ${refused} failed.`,
      ),
      translateText('The table below shows the same figures.'),
    ].join(' '),
    per: span.per === 'hour' ? 'Hour' : 'Day',
    help:
      endpoint === null
        ? `${done} delivered, ${refused} failed, ${retried} retries.`
        : `${done} delivered, ${refused} failed, ${retried} retries for ${endpoint.name}.`,
    good: 'Delivered',
    hasFailed: failed > 0,
    pictures: drawCharts({
      days: bars,
      whole: true,
      format: formatShortNumber,
      title: (bar) => titleOf(bar, nameOf(bar.day)),
      ...(span.per === 'hour' && { label: (name: string) => name.slice(11) }),
    }),
    rows: bars
      .filter(({ value, retried }) => value + retried > 0)
      .map((bar) => ({ ...bar, day: nameOf(bar.day), delivered: bar.value - bar.failed }))
      .reverse(),
  };
}

function toBars(figures: readonly HourCounts[], names: readonly string[], nameFor: (time: number) => string): Bar[] {
  const byName = new Map<string, Bar>(names.map((day) => [day, { day, value: 0, failed: 0, retried: 0 }]));
  for (const { hour: time, delivered, failed, retried } of figures) {
    const day = nameFor(time);
    const bar = byName.get(day) ?? { day, value: 0, failed: 0, retried: 0 };
    byName.set(day, {
      day,
      value: bar.value + delivered + failed,
      failed: bar.failed + failed,
      retried: bar.retried + retried,
    });
  }
  return [...byName.values()];
}

function titleOf({ value, failed }: ChartDay, day: string): string {
  const done = formatNumber(value - failed);
  return translateText(
    failed > 0 ? `${day}: ${done} delivered, ${formatNumber(failed)} failed` : `${day}: ${done} delivered`,
  );
}
