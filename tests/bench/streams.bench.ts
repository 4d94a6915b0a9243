import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchRow } from './bench-row.ts';
import { openBed, startSite } from './helpers/site.ts';
import { percentile } from './helpers/statistics.ts';
import { openVisitor, straight } from './helpers/widget-visitor.ts';

export const title = 'Streamed answers over the route of the widget: upstream to visitor, and what open streams cost';

interface Subject {
  readonly root: string;
  readonly bot: number;
  readonly pid: number;
  readonly upstream: string;
}

export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { visitors, open } = short ? { visitors: 10, open: 30 } : { visitors: 150, open: 200 };
  const stops: (() => Promise<void>)[] = [];
  try {
    const subject = await start(stops);
    await speeds(subject, { from: 0, visitors: 10 });
    const { first, rest, bare } = await speeds(subject, { from: 100, visitors });
    const memory = await costOfOpen(subject, { from: 1000, open });
    const most = (value: number): NonNullable<BenchRow['target']> => ({ at: 'most', value });
    return [
      { name: 'first token, upstream to visitor, p50', value: percentile(first, 0.5), unit: 'ms', target: most(20) },
      {
        name: 'first token, upstream to visitor, p99',
        value: percentile(first, 0.99),
        unit: 'ms',
        note: `of ${String(first.length)} answers, one after the other`,
      },
      {
        name: '  beyond that straight from the upstream',
        value: percentile(first, 0.99) - percentile(bare, 0.99),
        unit: 'ms',
        target: most(3),
      },
      { name: 'straight from the upstream, p50', value: percentile(bare, 0.5), unit: 'ms' },
      {
        name: 'straight from the upstream, p99',
        value: percentile(bare, 0.99),
        unit: 'ms',
        note: 'in turns with the answers above: what the machine itself takes, with whatever else it does',
      },
      { name: 'later tokens, p50', value: percentile(rest, 0.5), unit: 'ms' },
      { name: 'later tokens, p99', value: percentile(rest, 0.99), unit: 'ms' },
      { name: `memory of ${String(open)} open streams`, value: memory.cost, unit: 'MB', target: most(100) },
      { name: `a token while ${String(open)} are open, p99`, value: percentile(memory.times, 0.99), unit: 'ms' },
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function start(stops: (() => Promise<void>)[]): Promise<Subject> {
  const { upstream, data } = await openBed(stops, 'streaming-upstream.ts');
  const settings = {
    name: 'Bench',
    provider: 'openai',
    model: 'gpt-4.1-mini',
    embed: { enabled: true, any_site: true },
  };
  const { id } = JSON.parse(await data.cli('svc', 'bot', 'create', '--json', JSON.stringify(settings))) as {
    id: number;
  };
  // So that each visitor has an address of its own, and no limit against floods is met.
  const site = await startSite({ ...data, env: { ...data.env, TRUST_PROXY: 'loopback' } });
  stops.push(site.stop);
  return { root: `${site.ready}/wp-json`, bot: id, pid: site.pid, upstream };
}

/** One visitor after the other, each with one answer, in turns with the upstream itself. */
async function speeds(
  { root, bot, upstream }: Subject,
  { from, visitors }: { readonly from: number; readonly visitors: number },
): Promise<{ first: number[]; rest: number[]; bare: number[] }> {
  const first: number[] = [];
  const rest: number[] = [];
  const bare: number[] = [];
  for (let number = from; number < from + visitors; number += 1) {
    const answer = await (await openVisitor(root, bot, number)).send('Count to ten.');
    first.push(answer.first);
    rest.push(...(await answer.rest));
    bare.push(...(await straight(upstream)));
  }
  return { first, rest, bare };
}

/** What memory grows by while so many answers are under way at once, each with a token a second. */
async function costOfOpen(
  { root, bot, pid }: Subject,
  { from, open }: { readonly from: number; readonly open: number },
): Promise<{ cost: number; times: number[] }> {
  const before = await residentMegabytes(pid);
  const streams = [];
  for (let number = from; number < from + open; number += 1)
    streams.push(await (await openVisitor(root, bot, number)).send('Please hold.'));
  let highest = 0;
  for (let second = 0; second < 5; second += 1) {
    await sleep(1000);
    highest = Math.max(highest, await residentMegabytes(pid));
  }
  for (const stream of streams) stream.close();
  const times = (await Promise.all(streams.map(({ rest }) => rest))).flat();
  return { cost: highest - before, times };
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
