import type { CliCommand } from '#plugin-api';
import type { Delivery, DeliveryState, Replay } from '../delivery.ts';
import type { WebhookPagesContext } from '../pages/settings-context.ts';
import { readReplay } from './read-replay.ts';

const states = ['pending', 'delivering', 'delivered', 'failed'] as const;
const idArgument = { name: 'id', description: 'Id of the delivery, see svc queue list.' };
/** More failed ones than this are counted as so many. */
const mostCounted = 10_000;

/** `svc queue status|work|list|retry|clear|replay|replays|stop-replay`. */
export function queueCommands(context: WebhookPagesContext): CliCommand[] {
  const { webhooks } = context;
  const { recorder } = webhooks;
  return [
    {
      name: 'svc queue status',
      description: 'Say how the queue of webhook deliveries stands.',
      run: async () => {
        const [settings, metrics, failed, circuits] = await Promise.all([
          webhooks.settings(),
          recorder.metrics(),
          recorder.recentFailures(mostCounted),
          recorder.circuits(),
        ]);
        return {
          webhooks: settings.enabled ? 'on' : 'off',
          endpoints: settings.endpoints.length,
          waiting: metrics.waiting,
          oldest_seconds: Math.round(metrics.queueAge),
          failed: failed.length,
          paused: circuits.filter(({ pausedAt }) => pausedAt !== null).map(({ endpointId }) => endpointId),
        };
      },
    },
    {
      name: 'svc queue work',
      description: 'Deliver what is due, here and now, and say how many attempts were made.',
      run: async () => ({ attempts: await webhooks.work() }),
    },
    {
      name: 'svc queue list',
      description: 'List deliveries, newest first.',
      flags: {
        state: { type: 'string', enum: states, description: 'Only those in this state.' },
        event: { type: 'string', description: 'Only of this event.' },
        endpoint: { type: 'string', description: 'Only to the endpoint with this id.' },
        limit: { type: 'integer', minimum: 1, maximum: 200, default: 20, description: 'At most so many. Default 20.' },
      },
      run: async ({ flags: { state, event, endpoint, limit } }) => {
        const filter = {
          ...(isState(state) && { state }),
          ...(typeof event === 'string' && { event }),
          ...(typeof endpoint === 'string' && { endpointId: endpoint }),
        };
        const { deliveries } = await recorder.list(filter, { limit: typeof limit === 'number' ? limit : 20 });
        return deliveries.map(record);
      },
    },
    {
      name: 'svc queue retry',
      description: 'Run a failed delivery again, with the same id.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => {
        if (!(await recorder.retry(id)))
          throw new Error(`There is no failed delivery with the id ${id}. See svc queue list --state=failed.`);
        return { id, retried: true };
      },
    },
    {
      name: 'svc queue clear',
      description: 'Take a failed delivery from the list of failed jobs. Its log stays.',
      args: [idArgument],
      run: async ({ args: [id = ''] }) => {
        if (!(await recorder.clear(id)))
          throw new Error(
            `There is no delivery with the id ${id} on the list of failed jobs. See svc queue list --state=failed.`,
          );
        return { id, cleared: true };
      },
    },
    ...replayCommands(context),
  ];
}

function replayCommands({ host, webhooks: { recorder } }: WebhookPagesContext): CliCommand[] {
  return [
    {
      name: 'svc queue replay',
      description:
        'Send finished deliveries again: same ids and bytes, new timestamps. A running site, or svc queue work, goes on with it.',
      flags: {
        ids: { type: 'string', description: 'Ids of deliveries, with commas between them.' },
        since: { type: 'string', description: 'All from this time on: 2026-11-20T10:00:00Z, or 2h, 30m, 1d ago.' },
        until: { type: 'string', description: 'All up to this time.' },
        endpoint: { type: 'string', description: 'Only to the endpoint with this id.' },
        event: { type: 'string', description: 'Only of this event.' },
        state: {
          type: 'string',
          enum: ['delivered', 'failed'],
          description: 'Only those that ended so. Default both.',
        },
        rate: { type: 'integer', minimum: 1, maximum: 10_000, description: 'Deliveries a second. Default 100.' },
      },
      run: async ({ flags }) => replayRecord(await recorder.replay(readReplay(flags, host.clock.now()))),
    },
    {
      name: 'svc queue replays',
      description: 'List the replays and how far they are.',
      run: async () => (await recorder.replays()).map(replayRecord),
    },
    {
      name: 'svc queue stop-replay',
      description: 'Stop a replay that is running.',
      args: [{ name: 'id', description: 'Id of the replay, see svc queue replays.' }],
      run: async ({ args: [id = ''] }) => {
        if (!(await recorder.stopReplay(id)))
          throw new Error(`There is no running replay with the id ${id}. See svc queue replays.`);
        return { id, stopped: true };
      },
    },
  ];
}

function isState(value: unknown): value is DeliveryState {
  return states.some((state) => state === value);
}

function record({
  id,
  event,
  eventId,
  endpointId,
  endpointName,
  state,
  attempts,
  httpStatus,
  error,
  createdAt,
  finishedAt,
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
    created_at: time(createdAt),
    finished_at: time(finishedAt),
  };
}

function replayRecord({ id, state, replayed, total, createdAt }: Replay): Record<string, unknown> {
  return { id, state, replayed, total, created_at: new Date(createdAt).toISOString() };
}
