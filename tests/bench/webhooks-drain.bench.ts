import { createHmac } from 'node:crypto';
import { Agent } from 'undici';
import { stopPostgres } from '../helpers/postgres.ts';
import type { BenchRow } from './bench-row.ts';
import { median } from './helpers/statistics.ts';
import { emitMany, openBed, startReceivers, type Dialect } from './helpers/webhooks-bed.ts';

export const title = 'Event webhooks: draining beside a bare pool';

const inFlight = 64;

/** Of one run: deliveries per second, and per second of processor time of this process. */
interface Speed {
  readonly rate: number;
  readonly perProcessorSecond: number;
}

/** @param work returns how many deliveries it made. */
async function timed(work: () => Promise<number>): Promise<Speed> {
  const [began, before] = [performance.now(), process.cpuUsage()];
  const made = await work();
  const elapsed = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return { rate: (made / elapsed) * 1000, perProcessorSecond: (made / (user + system)) * 1e6 };
}

/** Signed POSTs of the same size by undici alone. */
async function barePool(ports: readonly string[], count: number): Promise<Speed> {
  const agent = new Agent({ connections: inFlight });
  const body = Buffer.alloc(640, 97);
  let left = count;
  const send = async (): Promise<void> => {
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
  };
  const speed = await timed(async () => {
    await Promise.all(Array.from({ length: inFlight }, send));
    return count;
  });
  await agent.destroy();
  return speed;
}

async function drain(dialect: Dialect, ports: readonly string[], count: number): Promise<Speed> {
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
  const speed = await timed(() => bed.webhooks.work());
  const { waiting } = await bed.webhooks.deliveryLog.metrics();
  await bed.stop();
  if (waiting > 0) throw new Error(`${String(waiting)} deliveries were left behind.`);
  return speed;
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
      const processor: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const [before, ours, after] = [
          await barePool(used, count),
          await drain(dialect, used, count),
          await barePool(used, count),
        ];
        const over = (figure: keyof Speed): number => ours[figure] / ((before[figure] + after[figure]) / 2);
        ratios.push(over('rate'));
        processor.push(over('perProcessorSecond'));
      }
      rows.push(
        {
          name: `${dialect}, drain to ${String(used.length)} over bare undici pool`,
          value: median(ratios),
          unit: 'ratio',
          target: { at: 'least', value: dialect === 'sqlite' ? 0.5 : 0.45 },
        },
        { name: '  the same, per processor time of the sender', value: median(processor), unit: 'ratio' },
      );
    }
  }
  return rows;
}

export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const receivers = await startReceivers();
  try {
    return await drains(receivers.ports, short ? { rounds: 1, count: 1_000 } : { rounds: 3, count: 30_000 });
  } finally {
    await receivers.stop();
    await stopPostgres();
  }
}
