import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { stopPostgres } from '../helpers/postgres.ts';
import { queued } from '../svc/webhooks/open-webhooks.ts';
import type { BenchRow } from './bench-row.ts';
import { startChild } from './helpers/child.ts';
import { median } from './helpers/statistics.ts';
import { emitMany, openBed, type Dialect } from './helpers/webhooks-bed.ts';

export const title = 'Event webhooks: draining against a bare pool, storing, and hanging endpoints';

const inFlight = 64;
/** Signed POSTs of the same size by undici alone. */
async function barePool(ports: readonly string[], count: number): Promise<number> {
  const agent = new Agent({ connections: inFlight });
  const body = Buffer.alloc(640, 97);
  let left = count;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) {
        const signature = createHmac('sha256', 'the secret of this benchmark')
          .update('1770000000.')
          .update(body)
          .digest('hex');
        const headers = {
          'content-type': 'application/json; charset=utf-8',
          accept: 'application/json',
          'x-svc-event': 'chatbot.session_started',
          'x-svc-event-id': '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11',
          'x-svc-delivery-id': '0b6f3f5e-6f0d-4f7c-9d0c-3c1e8a4f2b11',
          'x-svc-idempotency-key': 'k'.repeat(64),
          'x-svc-schema-version': '2026-05-21',
          'x-svc-timestamp': '1770000000',
          'x-svc-signature': `sha256=${signature}`,
          'x-svc-signature-alg': 'sha256',
        };
        const answer = await agent.request({
          origin: `http://127.0.0.1:${ports[left % ports.length] ?? ''}`,
          path: '/',
          method: 'POST',
          headers,
          body,
        });
        await answer.body.text();
      }
    }),
  );
  const rate = (count / (performance.now() - began)) * 1000;
  await agent.destroy();
  return rate;
}

async function drainRate(dialect: Dialect, ports: readonly string[], count: number): Promise<number> {
  const bed = await openBed(dialect);
  for (const port of ports)
    await bed.webhooks.addEndpoint({
      name: port,
      url: `http://127.0.0.1:${port}/`,
      events: ['chatbot.session_started'],
    });
  // As the bare pool, which has run before in this process: connections, thread and compiled code are there, as they are while a service works.
  await emitMany(bed, Math.floor(Math.min(20_000, count) / ports.length));
  await bed.webhooks.work();
  await emitMany(bed, Math.floor(count / ports.length));
  const began = performance.now();
  const made = await bed.webhooks.work();
  const rate = (made / (performance.now() - began)) * 1000;
  const { waiting } = await bed.webhooks.deliveryLog.metrics();
  await bed.stop();
  if (waiting > 0) throw new Error(`${String(waiting)} deliveries were left behind.`);
  return rate;
}

async function drains(
  ports: readonly string[],
  { rounds, count }: { readonly rounds: number; readonly count: number },
): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  await barePool(ports.slice(0, 1), count);
  for (const dialect of ['sqlite', 'postgresql'] as const) {
    for (const used of [ports.slice(0, 1), ports]) {
      const ratios: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const [before, ours, after] = [
          await barePool(used, count),
          await drainRate(dialect, used, count),
          await barePool(used, count),
        ];
        ratios.push(ours / ((before + after) / 2));
      }
      rows.push({
        name: `${dialect}, drain to ${String(used.length)} over bare undici pool`,
        value: median(ratios),
        unit: 'ratio',
        target: { at: 'least', value: dialect === 'sqlite' ? 0.85 : 0.6 },
      });
    }
  }
  return rows;
}

async function enqueues(port: string, count: number): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const dialect of ['sqlite', 'postgresql'] as const) {
    const bed = await openBed(dialect);
    await bed.webhooks.addEndpoint({
      name: 'one',
      url: `http://127.0.0.1:${port}/`,
      events: ['chatbot.session_started'],
    });
    await emitMany(bed, 2_000);
    rows.push({
      name: `${dialect}, durable events stored by 64 callers`,
      value: await emitMany(bed, count),
      unit: 'events/s',
      target: { at: 'least', value: 10_000 },
    });
    await bed.stop();
  }
  return rows;
}

/** A receiver in this process, which notes when each delivery comes; paths with `hang` are never answered. */
async function startClocked(): Promise<{
  readonly url: string;
  readonly cameAt: Map<string, number>;
  readonly next: (id: string) => Promise<void>;
  readonly stop: () => void;
}> {
  const cameAt = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.includes('hang')) return;
    const id = `${String(request.url)} ${String(request.headers['x-svc-event-id'])}`;
    cameAt.set(id, performance.now());
    response.end('ok');
    waiting.get(id)?.();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    cameAt,
    next: (id) =>
      new Promise((resolve) => {
        if (cameAt.has(id)) resolve();
        else waiting.set(id, resolve);
      }),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((left, right) => left - right)[Math.min(values.length - 1, Math.floor(values.length * part))] ??
  Number.NaN;

async function idleLatency(dialect: Dialect, count: number): Promise<BenchRow[]> {
  const [bed, receiver] = [await openBed(dialect), await startClocked()];
  await bed.webhooks.addEndpoint({ name: 'one', url: `${receiver.url}/`, events: ['chatbot.session_started'] });
  await bed.webhooks.start();
  const times: number[] = [];
  for (let index = 0; index < count + 20; index += 1) {
    const began = performance.now();
    const { envelope } = await bed.webhooks.emit('chatbot.session_started', queued(index));
    const id = `/ ${envelope?.id ?? ''}`;
    await receiver.next(id);
    if (index >= 20) times.push((receiver.cameAt.get(id) ?? 0) - began);
    await new Promise((resolve) => setTimeout(resolve, 8));
  }
  await bed.stop();
  receiver.stop();
  return [
    {
      name: `${dialect}, emit to receive when idle, p50`,
      value: percentile(times, 0.5),
      unit: 'ms',
      target: { at: 'most', value: 5 },
    },
    {
      name: `${dialect}, emit to receive when idle, p99`,
      value: percentile(times, 0.99),
      unit: 'ms',
      target: { at: 'most', value: 25 },
    },
  ];
}

async function hanging(
  share: number,
  { events, endpoints }: { readonly events: number; readonly endpoints: number },
): Promise<BenchRow> {
  const [bed, receiver] = [await openBed('sqlite'), await startClocked()];
  const hangs = Math.round(endpoints * share);
  for (let index = 0; index < endpoints; index += 1)
    await bed.webhooks.addEndpoint({
      name: String(index),
      url: `${receiver.url}/${index < hangs ? 'hang' : 'well'}${String(index)}`,
      events: ['chatbot.session_started'],
    });
  await bed.webhooks.start();
  const emitted = new Map<string, number>();
  // The first ones open connections and warm the program up, as those of the idle rows do; they are not counted.
  const warming = 5;
  for (let index = 0; index < events + warming; index += 1) {
    const began = performance.now();
    const { envelope } = await bed.webhooks.emit('chatbot.session_started', queued(index));
    if (index >= warming) emitted.set(envelope?.id ?? '', began);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const wanted = (endpoints - hangs) * (events + warming);
  while (receiver.cameAt.size < wanted) await new Promise((resolve) => setTimeout(resolve, 20));
  const times = [...receiver.cameAt].flatMap(([id, at]) => {
    const began = emitted.get(id.split(' ')[1] ?? '');
    return began === undefined ? [] : [at - began];
  });
  receiver.stop();
  await bed.stop();
  return {
    name: `p99 of healthy endpoints while ${String(hangs)} of ${String(endpoints)} hang`,
    value: percentile(times, 0.99),
    unit: 'ms',
    target: { at: 'most', value: 50 },
  };
}

export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const receivers = await startChild({
    command: process.execPath,
    args: ['--import', 'tsx', 'tests/bench/helpers/hook-receiver.ts'],
    ready: /Ready on (\S+)/,
  });
  const ports = receivers.ready.split(',');
  try {
    return [
      ...(await drains(ports, short ? { rounds: 1, count: 1_000 } : { rounds: 3, count: 30_000 })),
      ...(await enqueues(ports[0] ?? '', short ? 1_000 : 50_000)),
      ...(await idleLatency('sqlite', short ? 10 : 500)),
      ...(await idleLatency('postgresql', short ? 10 : 500)),
      await hanging(0.05, { endpoints: 20, events: short ? 3 : 100 }),
      await hanging(0.5, { endpoints: 20, events: short ? 3 : 100 }),
    ];
  } finally {
    await receivers.stop();
    await stopPostgres();
  }
}
