import type { BenchRow } from './bench-row.ts';
import { load, probe } from './helpers/load.ts';
import type { LoadResult, Target } from './helpers/load.ts';
import { startPortkey } from './helpers/portkey.ts';
import type { Portkey } from './helpers/portkey.ts';
import { benchKey, openBed, startHelper, startSite } from './helpers/site.ts';
import { median } from './helpers/statistics.ts';

export const title = 'POST /generate, 64 callers, against an upstream that answers at once';

const callers = 64;
const model = 'gpt-4.1-mini';
const messages = [
  { role: 'system', content: 'You answer in one sentence.' },
  { role: 'user', content: 'Why is the sea salt, and since when do we know?' },
];

interface Subject {
  readonly name: string;
  readonly target: Target;
}

/** The subjects take turns within each round, so that a change of the machine's mood meets them all; ratios are of one round. */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { rounds, seconds, warmUp } = short
    ? { rounds: 1, seconds: 1, warmUp: 1 }
    : { rounds: 5, seconds: 5, warmUp: 4 };
  const stops: (() => Promise<void>)[] = [];
  try {
    const { subjects, portkeyMissing } = await startSubjects(stops);
    for (const { target } of subjects) {
      await probe(target);
      await load(target, { callers, seconds: warmUp });
    }
    const results = new Map<string, LoadResult[]>(subjects.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < subjects.length; turn += 1) {
        const subject = subjects[(round + turn) % subjects.length];
        if (subject) results.get(subject.name)?.push(await load(subject.target, { callers, seconds }));
      }
    }
    return rows(results, portkeyMissing);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startSubjects(
  stops: (() => Promise<void>)[],
): Promise<{ subjects: Subject[]; portkeyMissing: string | null }> {
  const { upstream, data } = await openBed(stops, 'upstream.ts');
  const baseUrl = `${upstream}/v1`;
  const site = await startSite(data);
  stops.push(site.stop);
  const bare = await startHelper(stops, 'bare-express.ts', baseUrl);
  const subjects: Subject[] = [
    {
      name: 'this',
      target: {
        pid: site.pid,
        url: `${site.ready}/wp-json/svc/v1/generate`,
        headers: { authorization: `Bearer ${benchKey}` },
        body: { provider: 'openai', model, messages },
      },
    },
    {
      name: 'express',
      target: { pid: bare.pid, url: `${bare.ready}/generate`, headers: {}, body: { model, messages } },
    },
  ];
  const portkey = await startPortkey().catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  );
  if (portkey instanceof Error) {
    const reason = portkey.message.split('\n')[0] ?? '';
    console.log(`  Portkey's gateway is left out: ${reason}`);
    return { subjects, portkeyMissing: reason };
  }
  stops.push(portkey.stop);
  console.log(`  Portkey's gateway ${portkey.version} installed for this run.`);
  return {
    subjects: [...subjects, { name: 'portkey', target: portkeyTarget(portkey, baseUrl) }],
    portkeyMissing: null,
  };
}

function portkeyTarget({ url, pid }: Portkey, baseUrl: string): Target {
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': baseUrl, authorization: 'Bearer bench' };
  return { pid, url: `${url}/v1/chat/completions`, headers, body: { model, messages } };
}

function rows(results: ReadonlyMap<string, readonly LoadResult[]>, portkeyMissing: string | null): BenchRow[] {
  const of = (name: string, pick: (result: LoadResult) => number): number[] => (results.get(name) ?? []).map(pick);
  const rates = (name: string): number[] => of(name, ({ rate }) => rate);
  const ratio = (other: string, pick: (result: LoadResult) => number = ({ rate }) => rate): number =>
    median(of('this', pick).map((own, round) => own / (of(other, pick)[round] ?? Number.NaN)));
  const figures = (name: string, label: string): BenchRow[] => [
    { name: `${label}, rate`, value: median(rates(name)), unit: 'requests/s' },
    { name: `${label}, p50`, value: median(of(name, ({ p50 }) => p50)), unit: 'ms' },
    { name: `${label}, p99`, value: median(of(name, ({ p99 }) => p99)), unit: 'ms' },
    {
      name: `${label}, processor time of one answer`,
      value: median(of(name, ({ processor }) => processor)),
      unit: 'ms',
    },
  ];
  const portkey: BenchRow[] =
    portkeyMissing === null
      ? [
          ...figures('portkey', 'Portkey gateway'),
          {
            name: 'this over Portkey',
            value: ratio('portkey'),
            unit: 'x',
            target: { at: 'least', value: 1.6 },
          },
          {
            name: 'processor time of one answer, this over Portkey',
            value: ratio('portkey', ({ processor }) => processor),
            unit: 'x',
          },
        ]
      : [{ name: 'this over Portkey', value: Number.NaN, unit: 'x', note: `not measured: ${portkeyMissing}` }];
  return [
    ...figures('this', 'this'),
    ...figures('express', 'bare express and openai SDK'),
    {
      name: 'this over bare express and openai SDK',
      value: ratio('express'),
      unit: 'x',
      target: { at: 'least', value: 1 },
    },
    ...portkey,
  ];
}
