import { setTimeout as sleep } from 'node:timers/promises';
import { stopPostgres } from '../helpers/postgres.ts';
import type { BenchRow } from './bench-row.ts';
import { startChild } from './helpers/child.ts';
import { emitMany, openBed, type Bed, type Dialect } from './helpers/webhooks-bed.ts';

export const title = 'Event webhooks: a queue in which very many wait';

/** Deliveries per millisecond, and the most memory of this process in bytes. Asks nothing of the database, which counts what waits. */
async function drain(bed: Bed, count: number): Promise<{ readonly rate: number; readonly peak: number }> {
  const before = bed.sent();
  const began = performance.now();
  let peak = 0;
  await bed.webhooks.start();
  while (bed.sent() - before < count) {
    await sleep(5);
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  const rate = (bed.sent() - before) / (performance.now() - began);
  await bed.webhooks.stop();
  return { rate, peak };
}

/** Fills the tables by hand, as a million events of the past would have. */
async function deepQueue(
  dialect: Dialect,
  port: string,
  { waiting, count }: { readonly waiting: number; readonly count: number },
): Promise<BenchRow[]> {
  const bed = await openBed(dialect);
  const open = await bed.webhooks.addEndpoint({
    name: 'open',
    url: `http://127.0.0.1:${port}/`,
    events: ['chatbot.session_started'],
  });
  await emitMany(bed, 2_000);
  await bed.webhooks.work();
  await emitMany(bed, count);
  const empty = await drain(bed, count);
  await bed.database.knex.raw(
    `INSERT INTO svc_webhook_events (uuid, name, key, created_at, body) VALUES ('e', 'chatbot.session_started', 'k', 0, ?)`,
    [Buffer.alloc(640, 97)],
  );
  await bed.database.knex.raw(
    `INSERT INTO svc_webhook_deliveries (uuid, event_id, endpoint_id, state, due_at, created_at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 'd' || i, (SELECT max(id) FROM svc_webhook_events), ?, 'pending', 0, 0 FROM n`,
    [waiting, open.id],
  );
  const full = await drain(bed, count);
  await bed.stop();
  return [
    {
      name: `${dialect}, rate with ${String(waiting)} waiting over that of an empty queue`,
      value: full.rate / empty.rate,
      unit: 'ratio',
      target: { at: 'least', value: 0.8 },
    },
    {
      name: `${dialect}, memory with ${String(waiting)} waiting`,
      value: full.peak / 1024 ** 2,
      unit: 'MB',
      target: { at: 'most', value: 300 },
    },
  ];
}

export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const receivers = await startChild({
    command: process.execPath,
    args: ['tests/bench/helpers/hook-receiver.ts'],
    ready: /Ready on (\S+)/,
  });
  const port = receivers.ready.split(',')[0] ?? '';
  const size = short ? { waiting: 10_000, count: 4_000 } : { waiting: 1_000_000, count: 30_000 };
  try {
    return [...(await deepQueue('sqlite', port, size)), ...(await deepQueue('postgresql', port, size))];
  } finally {
    await receivers.stop();
    await stopPostgres();
  }
}
