import { fileURLToPath } from 'node:url';
import type { BenchRow } from './bench-row.ts';
import { startChild } from './helpers/child.ts';
import type { Child } from './helpers/child.ts';
import { load, probe } from './helpers/load.ts';
import type { Target } from './helpers/load.ts';
import { median } from './helpers/statistics.ts';

export const title = 'A validated REST route, beside bare express 5 + express.json + ajv';

const subjects = ['bare', 'host'] as const;
type Subject = (typeof subjects)[number];

const callers = 32;
const body = {
  provider: 'openai',
  model: 'gpt-4.1-mini',
  temperature: 0.5,
  messages: [
    { role: 'system', content: 'You answer in one sentence.' },
    { role: 'user', content: 'Why is the sea salt, and since when do we know?' },
  ],
};

/** The servers run at the same time and take turns within each round; ratios are of one round. */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { rounds, seconds, warmUp } = short
    ? { rounds: 1, seconds: 1, warmUp: 1 }
    : { rounds: 9, seconds: 3, warmUp: 3 };
  const children: Child[] = [];
  try {
    const targets = new Map<Subject, Target>();
    for (const subject of subjects) {
      const child = await startServer(subject);
      children.push(child);
      targets.set(subject, { url: `http://127.0.0.1:${child.ready}/wp-json/bench/v1/generate`, headers: {}, body });
    }
    for (const target of targets.values()) {
      await probe(target);
      await load(target, { callers, seconds: warmUp });
    }
    const results: Record<Subject, number[]> = { bare: [], host: [] };
    for (let round = 0; round < rounds; round += 1) {
      for (const [subject, target] of targets) results[subject].push((await load(target, { callers, seconds })).rate);
    }
    return rows(results);
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

function rows(results: Readonly<Record<Subject, readonly number[]>>): BenchRow[] {
  const rate = (name: string, subject: Subject): BenchRow => ({
    name,
    value: Math.round(median(results[subject])),
    unit: 'requests/s',
  });
  return [
    rate('bare express + express.json + ajv', 'bare'),
    rate('our route', 'host'),
    {
      name: 'our route : bare',
      unit: 'ratio',
      target: { at: 'least', value: 0.9 },
      value: median(results.host.map((value, round) => value / (results.bare[round] ?? Number.NaN))),
    },
  ];
}

function startServer(subject: Subject): Promise<Child> {
  const file = fileURLToPath(new URL('helpers/rest-server.ts', import.meta.url));
  return startChild({ command: process.execPath, args: [file, subject], ready: /ready (\d+)/ });
}
