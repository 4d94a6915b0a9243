import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stopPostgres } from '../helpers/postgres.ts';
import { queued } from '../svc/webhooks/open-webhooks.ts';
import type { BenchRow } from './bench-row.ts';
import { emitMany, openBed, startReceivers, type Dialect } from './helpers/webhooks-bed.ts';

export const title = 'Event webhooks: storing, emit to receive, and hanging endpoints';

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

/** A receiver in this process, which notes when each delivery comes. */
async function startClocked(): Promise<{
  readonly url: string;
  /** From now on paths with `hang` get no response. */
  readonly hang: () => void;
  readonly cameAt: Map<string, number>;
  readonly next: (id: string) => Promise<void>;
  readonly stop: () => void;
}> {
  const cameAt = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  let isHanging = false;
  const server = createServer((request, response) => {
    request.resume();
    if (isHanging && request.url?.includes('hang')) return;
    const id = `${String(request.url)} ${String(request.headers['x-svc-event-id'])}`;
    cameAt.set(id, performance.now());
    response.end('ok');
    waiting.get(id)?.();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    hang: () => {
      isHanging = true;
    },
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

interface HangingCase {
  readonly name: string;
  readonly dialect: Dialect;
  readonly endpoints: number;
  /** How many of the endpoints hang. */
  readonly hanging: number;
  /** Events that are not counted: they open connections and raise the concurrency of each endpoint. */
  readonly warmup: number;
  /** Whether the endpoints respond during the warm-up. */
  readonly beginsLater: boolean;
  readonly events: number;
  /** Milliseconds between two events. */
  readonly pause: number;
}

/** All endpoints have one origin. */
async function hangingRows(test: HangingCase): Promise<BenchRow[]> {
  const [bed, receiver] = [await openBed(test.dialect), await startClocked()];
  for (let index = 0; index < test.endpoints; index += 1)
    await bed.webhooks.addEndpoint({
      name: String(index),
      url: `${receiver.url}/${index < test.hanging ? 'hang' : 'well'}${String(index)}`,
      events: ['chatbot.session_started'],
    });
  if (!test.beginsLater) receiver.hang();
  await bed.webhooks.start();
  const healthy = (): number => [...receiver.cameAt.keys()].filter((id) => id.startsWith('/well')).length;
  const received = async (events: number): Promise<void> => {
    const wanted = (test.endpoints - test.hanging) * events;
    while (healthy() < wanted) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const emit = async (index: number): Promise<{ readonly id: string; readonly at: number; readonly took: number }> => {
    const at = performance.now();
    const { envelope } = await bed.webhooks.emit('chatbot.session_started', queued(index));
    const took = performance.now() - at;
    await new Promise((resolve) => setTimeout(resolve, test.pause));
    return { id: envelope?.id ?? '', at, took };
  };
  for (let index = 0; index < test.warmup; index += 1) await emit(index);
  await received(test.warmup);
  receiver.hang();
  const emitted = new Map<string, Awaited<ReturnType<typeof emit>>>();
  for (let index = 0; index < test.events; index += 1) {
    const one = await emit(test.warmup + index);
    emitted.set(one.id, one);
  }
  await received(test.warmup + test.events);
  const times = [...receiver.cameAt].flatMap(([id, at]) => {
    const one = emitted.get(id.split(' ')[1] ?? '');
    return one === undefined || !id.startsWith('/well') ? [] : [at - one.at];
  });
  receiver.stop();
  await bed.stop();
  const emits = [...emitted.values()].map(({ took }) => took);
  return [
    {
      name: `${test.name}: p99 of healthy endpoints`,
      value: percentile(times, 0.99),
      unit: 'ms',
      target: { at: 'most', value: 50 },
    },
    {
      name: `${test.name}: p99 of emit`,
      value: percentile(emits, 0.99),
      unit: 'ms',
      target: { at: 'most', value: 20 },
    },
  ];
}

async function hanging(short: boolean): Promise<BenchRow[]> {
  const from = { endpoints: 20, dialect: 'sqlite', warmup: 5, events: short ? 3 : 100, pause: 100 } as const;
  const later = { endpoints: 20, warmup: short ? 5 : 80, beginsLater: true, events: short ? 3 : 400, pause: 25 };
  const rows = [
    ...(await hangingRows({ ...from, name: '1 of 20 hangs', hanging: 1, beginsLater: false })),
    ...(await hangingRows({ ...from, name: '10 of 20 hang', hanging: 10, beginsLater: false })),
  ];
  // Beside each case the same one without hanging endpoints: a busy machine delays both alike.
  for (const dialect of ['sqlite', 'postgresql'] as const)
    rows.push(
      ...(await hangingRows({ ...later, dialect, name: `${dialect}, none of 20 hangs`, hanging: 0 })),
      ...(await hangingRows({ ...later, dialect, name: `${dialect}, 10 of 20 begin to hang`, hanging: 10 })),
    );
  return rows;
}

export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const receivers = await startReceivers();
  try {
    return [
      ...(await enqueues(receivers.ports[0] ?? '', short ? 1_000 : 50_000)),
      ...(await idleLatency('sqlite', short ? 10 : 500)),
      ...(await idleLatency('postgresql', short ? 10 : 500)),
      ...(await hanging(short)),
    ];
  } finally {
    await receivers.stop();
    await stopPostgres();
  }
}
