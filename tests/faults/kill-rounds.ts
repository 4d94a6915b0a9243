import type { Database } from '../../host/database/database.ts';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import { openWebhooks, plainDeliver, queued } from '../svc/webhooks/open-webhooks.ts';
import { startReceiver, type Received } from '../svc/webhooks/receiver.ts';
import { until } from '../helpers/until.ts';
import { ageLeases, createNodes, type Location, type Node } from './webhook-nodes.ts';

const eventsPerKill = 30;
const ids = ['x-svc-delivery-id', 'x-svc-event-id', 'x-svc-idempotency-key'] as const;

export interface KillReport {
  readonly kills: number;
  readonly emitted: number;
  readonly received: number;
  /** Deliveries that never arrived, or that the queue does not know as delivered. */
  readonly lost: number;
  /** Requests beyond the first of their delivery. */
  readonly repeated: number;
  /** Repeats with other ids or other bytes than the first. */
  readonly different: number;
}

export interface KillRounds {
  readonly open: () => Promise<Database>;
  readonly location: Location;
  readonly kills: number;
  /** Do not wait for the leases of the last killed ones to run out. */
  readonly hurried: boolean;
}

/** Two nodes at work; over and over, the one that has worked for longer is killed with jobs in its hands, and another one comes. */
export async function killRounds({ open, location, kills, hurried }: KillRounds): Promise<KillReport> {
  const nodes = createNodes();
  const receiver = await startReceiver();
  const { deliver, close } = plainDeliver();
  const database = await open();
  const { webhooks } = await openWebhooks(database, deliver);
  const arrived = (): Set<unknown> => new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id']));
  try {
    await webhooks.setEnabled(true);
    await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: ['chatbot.session_started'] });
    const emitted: string[] = [];
    const pair: [Node, Node] = [nodes.start(location), nodes.start(location)];
    await Promise.all(pair.map(({ ready }) => ready));
    for (let round = 0; round < kills; round += 1) {
      const before = receiver.received.length;
      await pair[0].ready;
      const results = await Promise.all(
        Array.from({ length: eventsPerKill }, (_, index) =>
          webhooks.emit('chatbot.session_started', queued(`${String(round)}-${String(index)}`)),
        ),
      );
      emitted.push(...results.flatMap(({ deliveries }) => deliveries));
      // Each time at another moment of the work.
      await receiver.count(before + 1 + ((round * 7) % (eventsPerKill - 1)));
      await pair[0].end('SIGKILL');
      pair.push(nodes.start(location));
      pair.shift();
    }
    await pair[1].ready;
    if (hurried) await ageLeases(database);
    await until('everything arrives', () => arrived().size >= emitted.length, 60_000);
    await until(
      'every outcome is written',
      async () => (await database.knex(tables.deliveries).whereNot({ state: 'delivered' })).length === 0,
      60_000,
    );
    for (const node of pair) await node.end('SIGTERM');
    const delivered = new Set<string>(
      await database.knex(tables.deliveries).where({ state: 'delivered' }).pluck('uuid'),
    );
    return {
      kills,
      emitted: emitted.length,
      ...compare(receiver.received),
      lost: emitted.filter((id) => !arrived().has(id) || !delivered.has(id)).length,
    };
  } finally {
    await nodes.stop();
    await receiver.stop();
    await close();
  }
}

function compare(received: readonly Received[]): Pick<KillReport, 'received' | 'repeated' | 'different'> {
  const first = new Map<unknown, Received>();
  let different = 0;
  for (const one of received) {
    const before = first.get(one.headers['x-svc-delivery-id']) ?? one;
    first.set(one.headers['x-svc-delivery-id'], before);
    if (one.body !== before.body || ids.some((name) => one.headers[name] !== before.headers[name])) different += 1;
  }
  return { received: received.length, repeated: received.length - first.size, different };
}
