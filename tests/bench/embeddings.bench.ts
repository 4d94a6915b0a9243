import { Agent, request as send } from 'node:http';
import { OpenAI } from 'openai';
import type { BenchRow } from './bench-row.ts';
import { benchKey, openBed, startSite } from './helpers/site.ts';
import { median } from './helpers/statistics.ts';

export const title =
  'POST /embeddings, 100 texts of 1,536 dimensions, one caller, against an upstream that answers at once';

const model = 'text-embedding-3-small';
const input = Array.from(
  { length: 100 },
  (_, place) => `Text number ${String(place)}, of about the length that one line has.`,
);

interface Subject {
  readonly name: string;
  /** One call, its whole answer in hand. */
  readonly call: () => Promise<unknown>;
}

/** The subjects take turns within each round, so that a change of the machine's mood meets them all; ratios are of one round. */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { rounds, calls, warmUp } = short ? { rounds: 2, calls: 5, warmUp: 5 } : { rounds: 15, calls: 15, warmUp: 60 };
  const stops: (() => Promise<void>)[] = [];
  try {
    const subjects = await startSubjects(stops);
    const times = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
    for (const { call } of subjects) for (let count = 0; count < warmUp; count += 1) await call();
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < subjects.length; turn += 1) {
        const subject = subjects[(round + turn) % subjects.length];
        if (subject) times.get(subject.name)?.push(await timeOf(subject.call, calls));
      }
    }
    return rows(times);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Median of the calls, in milliseconds. */
async function timeOf(call: () => Promise<unknown>, calls: number): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < calls; count += 1) {
    const started = performance.now();
    await call();
    times.push(performance.now() - started);
  }
  return median(times);
}

async function startSubjects(stops: (() => Promise<void>)[]): Promise<Subject[]> {
  const { upstream, data } = await openBed(stops, 'embedding-upstream.ts');
  const baseURL = `${upstream}/v1`;
  const site = await startSite(data);
  stops.push(site.stop);
  const client = new OpenAI({ apiKey: 'bench', baseURL, maxRetries: 0 });
  const agent = new Agent({ keepAlive: true });
  stops.push(() => Promise.resolve(agent.destroy()));
  const post = (encoding: object) => () =>
    answerOf(`${site.ready}/wp-json/svc/v1/embeddings`, {
      agent,
      body: JSON.stringify({ provider: 'openai', model, input, ...encoding }),
    });
  return [
    { name: 'this', call: post({}) },
    { name: 'this, base64', call: post({ encoding_format: 'base64' }) },
    { name: 'sdk', call: () => client.embeddings.create({ model, input }) },
    { name: 'sdk, float', call: () => client.embeddings.create({ model, input, encoding_format: 'float' }) },
    {
      name: 'sdk, JSON',
      call: async () =>
        JSON.stringify((await client.embeddings.create({ model, input })).data.map(({ embedding }) => [...embedding])),
    },
  ];
}

function answerOf(url: string, { agent, body }: { readonly agent: Agent; readonly body: string }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${benchKey}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const request = send(url, { method: 'POST', agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(parts);
        if (response.statusCode === 200) resolve(bytes);
        else reject(new Error(`status ${String(response.statusCode)}: ${bytes.toString().slice(0, 200)}`));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

function rows(times: ReadonlyMap<string, readonly number[]>): BenchRow[] {
  const of = (name: string): readonly number[] => times.get(name) ?? [];
  const ratio = (name: string, other: string): number =>
    median(of(name).map((time, round) => time / (of(other)[round] ?? Number.NaN)));
  return [
    { name: 'this', value: median(of('this')), unit: 'ms' },
    { name: 'this, base64 asked', value: median(of('this, base64')), unit: 'ms' },
    { name: 'openai SDK, its default', value: median(of('sdk')), unit: 'ms' },
    { name: 'openai SDK, floats asked', value: median(of('sdk, float')), unit: 'ms' },
    { name: 'openai SDK, its default, written as JSON', value: median(of('sdk, JSON')), unit: 'ms' },
    {
      name: 'this over the SDK by its default',
      value: ratio('this', 'sdk'),
      unit: 'x',
      target: { at: 'most', value: 1.3 },
    },
    { name: 'this over the SDK with floats', value: ratio('this', 'sdk, float'), unit: 'x' },
    {
      name: 'this with base64 over the SDK by its default, written as JSON',
      value: ratio('this, base64', 'sdk, JSON'),
      unit: 'x',
    },
  ];
}
