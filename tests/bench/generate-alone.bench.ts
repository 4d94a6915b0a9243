import { Agent, request } from 'node:http';
import type { BenchRow } from './bench-row.ts';
import { benchKey, openBed, startHelper, startSite } from './helpers/site.ts';
import { percentile } from './helpers/statistics.ts';

export const title = 'POST /generate, one caller, beside the upstream itself, which takes 20 ms';

const upstreamDelay = '20';
const messages = [{ role: 'user', content: 'Why is the sea salt, and since when do we know?' }];

/** Answers in a row from one server, before the next has its turn. */
const inARow = 50;

/**
 * The caller asks the site, a bare express handler with the openai SDK and the upstream in turns: the difference is what
 * the first two add. Each has answered some thousand requests of 16 callers before, as a server has that runs for an hour:
 * V8 compiles the path of a request only then. The caller uses `node:http`: `fetch` would take more of the processors than
 * the servers that are measured.
 */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { warmup, turns } = short ? { warmup: 32, turns: 1 } : { warmup: 4_000, turns: 20 };
  const stops: (() => Promise<void>)[] = [];
  const agent = new Agent({ keepAlive: true });
  try {
    const { upstream, data } = await openBed(stops, 'upstream.ts', upstreamDelay);
    const site = await startSite(data);
    stops.push(site.stop);
    const bare = await startHelper(stops, 'bare-express.ts', `${upstream}/v1`);
    const ask = (url: string, body: object) => (): Promise<number> => timeOf(agent, url, body);
    const generate = ask(`${site.ready}/wp-json/svc/v1/generate`, {
      provider: 'openai',
      model: 'gpt-4.1-mini',
      messages,
    });
    const viaBare = ask(`${bare.ready}/generate`, { model: 'gpt-4.1-mini', messages });
    const direct = ask(`${upstream}/v1/chat/completions`, { model: 'gpt-4.1-mini', messages });
    for (let count = 0; count < warmup; count += 16)
      await Promise.all(Array.from({ length: 16 }, () => Promise.all([generate(), viaBare()])));
    const times = { generate: [] as number[], bare: [] as number[], direct: [] as number[] };
    for (let turn = 0; turn < turns; turn += 1) {
      times.generate.push(...(await repeat(generate)));
      times.bare.push(...(await repeat(viaBare)));
      times.direct.push(...(await repeat(direct)));
    }
    const added = (share: number, of: readonly number[] = times.generate): number =>
      percentile(of, share) - percentile(times.direct, share);
    return [
      { name: 'the upstream itself, p50', value: percentile(times.direct, 0.5), unit: 'ms' },
      { name: 'the upstream itself, p99', value: percentile(times.direct, 0.99), unit: 'ms' },
      { name: 'added, p50', value: added(0.5), unit: 'ms', target: { at: 'most', value: 1.5 } },
      { name: 'added, p99', value: added(0.99), unit: 'ms', target: { at: 'most', value: 4 } },
      { name: 'added by bare express and openai SDK, p50', value: added(0.5, times.bare), unit: 'ms' },
      { name: 'added by bare express and openai SDK, p99', value: added(0.99, times.bare), unit: 'ms' },
    ];
  } finally {
    agent.destroy();
    for (const stop of stops.reverse()) await stop();
  }
}

async function repeat(ask: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < inARow; count += 1) times.push(await ask());
  return times;
}

/** Milliseconds until the whole response has been read. */
function timeOf(agent: Agent, url: string, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const content = JSON.stringify(body);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(content),
      authorization: `Bearer ${benchKey}`,
    };
    const begun = performance.now();
    request(url, { agent, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.once('error', reject).once('end', () => {
        const time = performance.now() - begun;
        if (response.statusCode === 200) resolve(time);
        else reject(new Error(`${url} answered ${String(response.statusCode)}: ${text.slice(0, 500)}`));
      });
    })
      .once('error', reject)
      .end(content);
  });
}
