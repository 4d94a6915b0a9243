import { createHash } from 'node:crypto';
import { queryHref } from '../../admin-ui/form-values.ts';
import {
  filterChips,
  formatDate,
  formatDuration,
  formatNumber,
  localMinute,
  momentOf,
  type AdminRequest,
} from '#plugin-api';
import type { Delivery, Replay } from '../delivery.ts';
import type { WebhookSettings } from '../endpoint.ts';
import { stateBadge } from './delivery-labels.ts';
import { deliveryChart, findSpan } from './delivery-log-chart.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { readDeliveryLogQuery, states, toDeliveryFilter, type DeliveryLogQuery } from './delivery-log-filter.ts';

export const perPage = 25;
const hour = 3_600_000;

/** The data of `svc/webhook-deliveries`. */
export async function deliveryLogView(
  context: DeliveryPagesContext,
  given: AdminRequest['query'],
): Promise<Record<string, unknown>> {
  const {
    host,
    webhooks: { deliveryLog, ...webhooks },
    hours,
  } = context;
  const timezone = await host.site.timezone();
  const query = readDeliveryLogQuery(given, timezone);
  const span = findSpan(given['span']);
  const before =
    typeof given['before'] === 'string' && /^\d{1,15}$/.test(given['before']) ? given['before'] : undefined;
  // Include what this process has counted since the last flush.
  await hours.flush();
  // First: the stamp of the page must not be newer than what it shows.
  const live = await queueProgress(context, { query, timezone });
  const [settings, page] = await Promise.all([
    webhooks.settings(),
    deliveryLog.list(toDeliveryFilter(query, timezone), { limit: perPage, ...(before !== undefined && { before }) }),
  ]);
  const now = host.clock.now();
  const linked = { ...query, ...(span.id !== 'day' && { span: span.id }) };
  const isFiltered = Object.keys(query).length > 0;
  const isUnused = page.deliveries.length === 0 && !isFiltered && before === undefined;
  return {
    live,
    paused: await pausedEndpoints(context, settings),
    isOff: !settings.enabled,
    filter: filterForm(context, { query, settings, span: span.id }),
    states: stateTabs(linked),
    chips: filterChips(linked, chipTexts(query, { settings, timezone })),
    hasFilters: Object.keys(query).some((name) => name !== 'state'),
    chart: await deliveryChart({
      hours,
      span,
      now,
      timezone,
      endpoint:
        query.endpoint === undefined ? null : { id: query.endpoint, name: endpointName(settings, query.endpoint) },
      address: (id) => queryHref({ ...query, span: id }),
    }),
    rows: page.deliveries.map((delivery) => rowView(delivery, host.admin.url('svc/deliveries/delivery'))),
    newest: before === undefined ? null : queryHref(linked, 'deliveries'),
    older: page.next === null ? null : queryHref({ ...linked, before: page.next }, 'deliveries'),
    isPaged: before !== undefined,
    empty: isUnused ? nextStep(context, settings) : null,
    exportFields: query,
    again: {
      since: localMinute(now - hour, timezone),
      endpoints: endpointOptions(settings, 'All'),
      events: eventOptions(context, 'All'),
      states: [{ value: '', label: 'Delivered and failed' }, ...states.slice(2)],
    },
    replays: live.replays,
  };
}

export interface QueueProgress {
  readonly waiting: number;
  readonly inFlight: number;
  /** Formatted age of the oldest pending delivery. */
  readonly queueAge: string;
  readonly replays: readonly ReplayView[];
  /** Changes whenever the first page of the list changes. */
  readonly stamp: string;
}

type ReplayView = Replay & { readonly share: number; readonly text: string };

/** Progress of the queue, which the script of the page polls. */
export async function queueProgress(
  { webhooks: { deliveryLog } }: DeliveryPagesContext,
  { query, timezone }: { readonly query: DeliveryLogQuery; readonly timezone: string },
): Promise<QueueProgress> {
  const [metrics, replays, { deliveries }, circuits] = await Promise.all([
    deliveryLog.metrics(),
    deliveryLog.replays(),
    deliveryLog.list(toDeliveryFilter(query, timezone), { limit: perPage }),
    deliveryLog.circuits(),
  ]);
  const shown = [
    deliveries.map(({ id, state, attempts, dueAt }) => [id, state, attempts, dueAt]),
    circuits.map(({ endpointId, pausedAt }) => [endpointId, pausedAt]),
    replays.filter(isRecent).map(({ id, state }) => [id, state]),
  ];
  return {
    waiting: metrics.waiting,
    inFlight: metrics.inFlight,
    queueAge: metrics.waiting === 0 ? '–' : formatDuration(metrics.queueAge * 1000),
    replays: replays.filter(isRecent).map((replay) => ({
      ...replay,
      share: replay.total === 0 ? 100 : Math.min(100, Math.round((replay.replayed * 100) / replay.total)),
      text: `${formatNumber(replay.replayed)} of ${formatNumber(replay.total)}${replay.state === 'running' ? '' : `, ${replay.state}`}`,
    })),
    stamp: createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 16),
  };
}

/** Running replays and the latest three. */
function isRecent(replay: Replay, index: number): boolean {
  return replay.state === 'running' || index < 3;
}

function rowView(delivery: Delivery, page: string) {
  const { id, httpStatus, error, failure, state } = delivery;
  return {
    ...delivery,
    href: `${page}?id=${id}`,
    badge: stateBadge(delivery),
    isFinished: state === 'delivered' || state === 'failed',
    // The HTTP status is shown separately.
    note: failure === 'status' || state === 'delivered' ? '' : (error ?? ''),
    statusText: httpStatus === null ? '' : `HTTP ${String(httpStatus)}`,
    isDue: delivery.dueAt !== null && delivery.dueAt > delivery.createdAt && state === 'pending',
  };
}

async function pausedEndpoints({ webhooks: { deliveryLog } }: DeliveryPagesContext, settings: WebhookSettings) {
  const circuits = (await deliveryLog.circuits()).filter(({ pausedAt }) => pausedAt !== null);
  return circuits.map((circuit) => ({ ...circuit, name: endpointName(settings, circuit.endpointId) }));
}

function stateTabs({ state = '', ...others }: DeliveryLogQuery & { readonly span?: string }) {
  return [{ value: '', label: 'All' }, ...states].map(({ value, label }) => ({
    label,
    href: queryHref({ ...others, ...(value !== '' && { state: value }) }, 'deliveries'),
    current: value === state,
  }));
}

function chipTexts(
  { event, endpoint, since, until }: DeliveryLogQuery,
  { settings, timezone }: { readonly settings: WebhookSettings; readonly timezone: string },
): Readonly<Record<string, string>> {
  const moment = (minute: string | undefined): string =>
    formatDate(momentOf(minute ?? '', timezone) ?? 0, 'dateTime', timezone);
  return {
    ...(event !== undefined && { event: `Event: ${event}` }),
    ...(endpoint !== undefined && { endpoint: `Endpoint: ${endpointName(settings, endpoint)}` }),
    ...(since !== undefined && { since: `From: ${moment(since)}` }),
    ...(until !== undefined && { until: `Until: ${moment(until)}` }),
  };
}

function filterForm(
  context: DeliveryPagesContext,
  {
    query,
    settings,
    span,
  }: { readonly query: DeliveryLogQuery; readonly settings: WebhookSettings; readonly span: string },
) {
  const known = endpointOptions(settings, 'All');
  const isUnknown = query.endpoint !== undefined && !known.some(({ value }) => value === query.endpoint);
  return {
    span,
    state: query.state ?? '',
    since: query.since ?? '',
    until: query.until ?? '',
    fields: [
      { name: 'event', label: 'Event', value: query.event ?? '', options: eventOptions(context, 'All') },
      {
        name: 'endpoint',
        label: 'Endpoint',
        value: query.endpoint ?? '',
        options: isUnknown ? [...known, { value: query.endpoint, label: '(deleted endpoint)' }] : known,
      },
    ],
  };
}

export function endpointOptions({ endpoints }: WebhookSettings, first: string): { value: string; label: string }[] {
  return [{ value: '', label: first }, ...endpoints.map(({ id, name }) => ({ value: id, label: name, isData: true }))];
}

export function eventOptions(
  { webhooks: { catalogue } }: DeliveryPagesContext,
  first: string,
): { value: string; label: string }[] {
  return [
    { value: '', label: first },
    ...catalogue.list().map(({ name }) => ({ value: name, label: name, isData: true })),
  ];
}

export function endpointName({ endpoints }: WebhookSettings, id: string): string {
  return endpoints.find((endpoint) => endpoint.id === id)?.name ?? '(deleted endpoint)';
}

/** The next step towards a first delivery. */
function nextStep({ host }: DeliveryPagesContext, { enabled, endpoints }: WebhookSettings) {
  const title = 'No deliveries yet';
  if (endpoints.length === 0)
    return {
      title,
      text: 'Every delivery is logged here with its exact body. Try the test inbox of this site, or add your own endpoint.',
      href: host.admin.url('svc/deliveries/inbox'),
      label: 'Open the inbox',
    };
  if (!enabled)
    return {
      title,
      text: 'Event webhooks are off.',
      href: host.admin.url('svc/webhooks'),
      label: 'Turn them on',
    };
  return {
    title,
    text: 'Everything is ready. The first event appears here immediately.',
    href: host.admin.url('svc/webhooks'),
    label: 'Send a test event',
  };
}
