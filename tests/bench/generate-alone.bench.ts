import type { BenchRow } from './bench-row.ts';
import { benchKey, openBed, startHelper, startSite } from './helpers/site.ts';
import { percentile } from './helpers/statistics.ts';

export const title = 'POST /generate, one caller, beside the upstream itself, which takes 20 ms';

const upstreamDelay = '20';
const messages = [{ role: 'user', content: 'Why is the sea salt, and since when do we know?' }];

/**
 * The caller asks the site, a bare express handler with the openai SDK and the upstream in turns: the difference is what
 * the first two add.
 */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { warmup, answers } = short ? { warmup: 10, answers: 20 } : { warmup: 300, answers: 1_000 };
  const stops: (() => Promise<void>)[] = [];
  try {
    const { upstream, data } = await openBed(stops, 'upstream.ts', upstreamDelay);
    const site = await startSite(data);
    stops.push(site.stop);
    const bare = await startHelper(stops, 'bare-express.ts', `${upstream}/v1`);
    const generate = (): Promise<number> =>
      timeOf(`${site.ready}/wp-json/svc/v1/generate`, { provider: 'openai', model: 'gpt-4.1-mini', messages });
    const direct = (): Promise<number> =>
      timeOf(`${upstream}/v1/chat/completions`, { model: 'gpt-4.1-mini', messages });
    const viaBare = (): Promise<number> => timeOf(`${bare.ready}/generate`, { model: 'gpt-4.1-mini', messages });
    for (let count = 0; count < warmup; count += 16)
      await Promise.all(Array.from({ length: 16 }, () => Promise.all([generate(), viaBare()])));
    const times = { generate: [] as number[], bare: [] as number[], direct: [] as number[] };
    for (let count = 0; count < answers; count += 1) {
      times.generate.push(await generate());
      times.bare.push(await viaBare());
      times.direct.push(await direct());
    }
    const added = (share: number, of: readonly number[] = times.generate): number =>
      percentile(of, share) - percentile(times.direct, share);
    return [
      { name: 'the upstream itself, p50', value: percentile(times.direct, 0.5), unit: 'ms' },
      { name: 'the upstream itself, p99', value: percentile(times.direct, 0.99), unit: 'ms' },
      { name: 'added, p50', value: added(0.5), unit: 'ms', target: { at: 'most', value: 1 } },
      { name: 'added, p99', value: added(0.99), unit: 'ms', target: { at: 'most', value: 2.5 } },
      { name: 'added by bare express and openai SDK, p50', value: added(0.5, times.bare), unit: 'ms' },
      { name: 'added by bare express and openai SDK, p99', value: added(0.99, times.bare), unit: 'ms' },
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Milliseconds until the whole response has been read. */
async function timeOf(url: string, body: unknown): Promise<number> {
  const begun = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${benchKey}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${String(response.status)}: ${text.slice(0, 500)}`);
  return performance.now() - begun;
}
