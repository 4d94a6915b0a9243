import type { CliCommand } from '#plugin-api';
import type { Delivery, DeliveryState, Replay, ReplayRequest } from '../delivery.ts';
import { skippedText } from '../pages/delivery-log-actions.ts';
import type { WebhookPagesContext } from '../pages/pages-context.ts';
import type { Webhooks } from '../webhooks.ts';

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The flags of `svc queue replay` as a request.
 *
 * @param now milliseconds since the epoch, for times like `2h`.
 * @throws Error if the flags select nothing, or a time is invalid.
 */
function readReplay(flags: Readonly<Record<string, unknown>>, now: number): ReplayRequest {
  const { ids, since, until, endpoint, event, state, rate } = flags;
  const deliveries =
    typeof ids === 'string'
      ? ids
          .split(',')
          .map((id) => id.trim())
          .filter((id) => id !== '')
      : [];
  if (deliveries.length === 0 && since === undefined)
    throw new Error('Choose what to replay: --ids=<id,id>, or --since=2h, or --since=2026-11-20T10:00:00Z.');
  return {
    ...(deliveries.length > 0 && { deliveries }),
    ...(since !== undefined && { since: readTime('since', since, now) }),
    ...(until !== undefined && { until: readTime('until', until, now) }),
    ...(typeof endpoint === 'string' && { endpointId: endpoint }),
    ...(typeof event === 'string' && { event }),
    ...((state === 'delivered' || state === 'failed') && { state }),
    ...(typeof rate === 'number' && { rate }),
  };
}

function readTime(flag: string, value: unknown, now: number): number {
  const text = String(value);
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  const time = count === undefined ? Date.parse(text) : now - Number(count) * (units[unit] ?? 0);
  if (Number.isNaN(time))
    throw new Error(`--${flag} is '${text}'; use a time like 2026-11-20T10:00:00Z, or an age like 30m, 2h or 1d.`);
  return time;
}

const states = ['pending', 'delivering', 'delivered', 'failed'] as const;
const idArgument = { name: 'id', description: 'Id of the delivery, see svc queue list.' };
/** Failed deliveries are counted up to this number. */
const maxCounted = 10_000;
/** The number that the admin page shows too. */
const shownFailures = 5;

/** `svc queue status|work|list|retry|clear|replay|replays|stop-replay`. */
export function queueCommands(context: WebhookPagesContext): CliCommand[] {
  const { webhooks } = context;
  const { deliveryLog } = webhooks;
  return [
    {
      name: 'svc queue status',
      description: 'Show the status of the webhook queue, with the last five failed deliveries that were not cleared.',
      run: () => queueStatus(webhooks),
    },
    {
      name: 'svc queue work',
      description: 'Deliver all due events now and print the number of attempts.',
      run: async () => ({ attempts: await webhooks.work() }),
    },
    {
      name: 'svc queue list',
      description: 'List deliveries, newest first.',
      flags: {
        state: { type: 'string', enum: states, description: 'Only deliveries in this state.' },
        event: { type: 'string', description: 'Only deliveries of this event.' },
        endpoint: { type: 'string', description: 'Only deliveries to the endpoint with this id.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 200,
          default: 20,
          description: 'Maximum number of deliveries. Default 20.',
        },
      },
      run: async ({ flags: { state, event, endpoint, limit } }) => {
        const filter = {
          ...(isState(state) && { state }),
          ...(typeof event === 'string' && { event }),
          ...(typeof endpoint === 'string' && { endpointId: endpoint }),
        };
        const { deliveries } = await deliveryLog.list(filter, { limit: Number(limit) });
        return deliveries.map(deliveryRecord);
      },
    },
    {
      name: 'svc queue retry',
      description: 'Retry a failed delivery with the same id.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => {
        if (!(await deliveryLog.retry(id)))
          throw new Error(`There is no failed delivery with the id ${id}. See svc queue list --state=failed.`);
        return { id, retried: true };
      },
    },
    {
      name: 'svc queue clear',
      description: 'Remove a failed delivery from the recent failures. The delivery log keeps it.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => {
        if (!(await deliveryLog.clear(id)))
          throw new Error(
            `There is no delivery with the id ${id} among the recent failures. See svc queue list --state=failed.`,
          );
        return { id, cleared: true };
      },
    },
    ...replayCommands(context),
  ];
}

/** What `svc queue status` prints. */
export async function queueStatus({ settings: read, deliveryLog }: Pick<Webhooks, 'settings' | 'deliveryLog'>) {
  const [settings, metrics, failed, circuits] = await Promise.all([
    read(),
    deliveryLog.metrics(),
    deliveryLog.recentFailures(maxCounted),
    deliveryLog.circuits(),
  ]);
  return {
    webhooks: settings.enabled ? 'on' : 'off',
    endpoints: settings.endpoints.length,
    waiting: metrics.waiting,
    oldest_seconds: Math.round(metrics.queueAge),
    failed: failed.length,
    last_failed: failed.slice(0, shownFailures).map(deliveryRecord),
    held: settings.endpoints.filter(({ held }) => held !== null).map(({ id }) => id),
    paused: circuits.filter(({ pausedAt }) => pausedAt !== null).map(({ endpointId }) => endpointId),
  };
}

function replayCommands({ host, webhooks: { deliveryLog } }: WebhookPagesContext): CliCommand[] {
  return [
    {
      name: 'svc queue replay',
      description:
        'Send finished deliveries again with the same ids and bodies. A running site, or svc queue work, continues the replay.',
      flags: {
        ids: { type: 'string', description: 'Ids of deliveries, separated by commas.' },
        since: { type: 'string', description: 'From this time on: 2026-11-20T10:00:00Z, or 2h, 30m, 1d ago.' },
        until: { type: 'string', description: 'Until this time.' },
        endpoint: { type: 'string', description: 'Only deliveries to the endpoint with this id.' },
        event: { type: 'string', description: 'Only deliveries of this event.' },
        state: {
          type: 'string',
          enum: ['delivered', 'failed'],
          description: 'Only deliveries with this result. Default: both.',
        },
        rate: { type: 'integer', minimum: 1, maximum: 10_000, description: 'Deliveries per second. Default 100.' },
      },
      run: async ({ flags }) => replayRecord(await deliveryLog.replay(readReplay(flags, host.clock.now()))),
    },
    {
      name: 'svc queue replays',
      description: 'List replays and their progress.',
      run: async () => (await deliveryLog.replays()).map(replayRecord),
    },
    {
      name: 'svc queue stop-replay',
      description: 'Stop a running replay.',
      args: [{ name: 'id', description: 'Id of the replay, see svc queue replays.' }],
      run: async ({ args: [id = ''] }) => {
        if (!(await deliveryLog.stopReplay(id)))
          throw new Error(`There is no running replay with the id ${id}. See svc queue replays.`);
        return { id, stopped: true };
      },
    },
  ];
}

function isState(value: unknown): value is DeliveryState {
  return states.some((state) => state === value);
}

function deliveryRecord({
  id,
  event,
  eventId,
  endpointId,
  endpointName,
  state,
  attempts,
  httpStatus,
  error,
  bodyDeleted,
  createdAt,
  finishedAt,
  held,
}: Delivery): Record<string, unknown> {
  const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    id,
    event,
    event_id: eventId,
    endpoint_id: endpointId,
    endpoint: endpointName,
    state,
    attempts,
    status: httpStatus,
    error,
    body:
      bodyDeleted === null ? 'stored' : `deleted: ${bodyDeleted === 'erased' ? 'data of a person erased' : 'not kept'}`,
    held,
    created_at: time(createdAt),
    finished_at: time(finishedAt),
  };
}

function replayRecord({ id, state, replayed, total, withoutBody, createdAt }: Replay): Record<string, unknown> {
  return {
    id,
    state,
    replayed,
    total,
    ...(withoutBody > 0 && { without_body: withoutBody, note: skippedText(withoutBody).trim() }),
    created_at: new Date(createdAt).toISOString(),
  };
}
