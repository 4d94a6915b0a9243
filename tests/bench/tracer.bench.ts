import { createFakeClock, createTestHost } from '#testing';
import { createTracer, type Trace } from '../../host/tracer.ts';
import { signIn } from '../helpers/sign-in.ts';
import type { BenchRow } from './bench-row.ts';
import { startChild } from './helpers/child.ts';
import { readyLine } from './helpers/site.ts';
import { median } from './helpers/statistics.ts';

export const title = 'The tracer of requests, with POST /generate';

const key = 'bench-key-of-24-characters';

/**
 * Off: the checks that a request passes, times what one costs, by the processor time of a request. On: the share of a
 * request's time that has a name.
 */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const upstream = await startChild({
    command: process.execPath,
    args: ['tests/bench/helpers/upstream.ts'],
    ready: readyLine,
  });
  const host = await createTestHost({ plugins: ['svc'], env: { LOG_LEVEL: 'error' } });
  try {
    await host.cli('svc', 'key', 'set', key);
    await host.cli('svc', 'provider', 'set', 'openai', '--api-key=bench', `--base-url=${upstream.ready}/v1`);
    const browser = await signIn(host);
    const { text } = await browser.post('tools/traces', 'header', {});
    const header = /X-SVC-Trace: ([\w.-]+)/.exec(text)?.[1] ?? '';
    const generate = async (headers: Readonly<Record<string, string>> = {}): Promise<void> => {
      const response = await host.fetch('/wp-json/svc/v1/generate', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({
          provider: 'openai',
          model: 'gpt-4.1-mini',
          messages: [{ role: 'user', content: 'Hi' }],
        }),
      });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      await response.arrayBuffer();
    };
    const rounds = short ? 20 : 500;
    for (let round = 0; round < rounds; round += 1) await generate();
    const before = process.cpuUsage();
    for (let round = 0; round < rounds; round += 1) await generate();
    const { user, system } = process.cpuUsage(before);
    const microseconds = (user + system) / rounds;
    for (let round = 0; round < 30; round += 1) await generate({ 'x-svc-trace': header });
    const traces = await readTraces();
    const spans = median(traces.map((trace) => trace.spans.length));
    const nanoseconds = checkCost(short ? 100_000 : 5_000_000);
    return [
      { name: 'spans of a request', value: spans, unit: '' },
      { name: 'one check while off', value: nanoseconds, unit: 'ns' },
      {
        name: 'checks while off, of the processor time of a request',
        value: ((spans + 2) * nanoseconds) / 10 / microseconds,
        unit: '%',
        target: { at: 'most', value: 2 },
      },
      {
        name: 'explained while on, of the time of a request',
        value: median(traces.map((trace) => trace.explained)),
        unit: '%',
        target: { at: 'least', value: 95 },
      },
    ];
  } finally {
    await host.stop();
    await upstream.stop();
  }

  async function readTraces(): Promise<Trace[]> {
    const { body } = await host.rest.dispatch('/host/v1/traces', { user: await administrator() });
    const ids = (body as { readonly id: string; readonly name: string }[]).filter(({ name }) =>
      name.endsWith('/generate'),
    );
    const found: Trace[] = [];
    for (const { id } of ids)
      found.push((await host.rest.dispatch(`/host/v1/traces/${id}`, { user: await administrator() })).body as Trace);
    return found;
  }

  async function administrator() {
    const [first] = await host.users.list({});
    if (!first) throw new Error('There is no administrator.');
    return first;
  }
}

/** Nanoseconds of `span` while nothing is recorded. */
function checkCost(times: number): number {
  const { span } = createTracer({
    database: { observeQueries: () => () => undefined },
    clock: createFakeClock(),
  });
  let sum = 0;
  const work = (): number => (sum += 1);
  const measure = (run: () => void): number => {
    const start = process.hrtime.bigint();
    for (let index = 0; index < times; index += 1) run();
    return Number(process.hrtime.bigint() - start) / times;
  };
  const rounds = Array.from({ length: 5 }, () => {
    const bare = measure(work);
    return Math.max(0, measure(() => void span('step', 'check', work)) - bare);
  });
  return median(rounds);
}
