import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchRow } from './bench-row.ts';
import { startChild } from './helpers/child.ts';
import { processorTime } from './helpers/load.ts';
import { benchKey, openBed, readyLine, startSite } from './helpers/site.ts';
import { median, percentile } from './helpers/statistics.ts';
import { openCompletion, type CompletionTarget } from './helpers/widget-visitor.ts';

export const title = 'Streams over the OpenAI-compatible routes, beside the upstream itself';

interface Measured {
  readonly target: CompletionTarget;
  readonly pid: number;
}

interface Subject {
  readonly door: Measured;
  readonly relay: Measured;
  readonly upstream: CompletionTarget;
}

export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { answers, open, warmup, seconds } = short
    ? { answers: 10, open: 30, warmup: 1, seconds: 3 }
    : { answers: 300, open: 256, warmup: 10, seconds: 30 };
  const stops: (() => Promise<void>)[] = [];
  try {
    const subject = await start(stops);
    await Promise.all(Array.from({ length: 16 }, () => firstTokens(subject, short ? 1 : 60)));
    const { door, bare } = await firstTokens(subject, answers);
    const pieces = await manyStreams(subject.door, { open, warmup, seconds });
    const relayed = await manyStreams(subject.relay, { open, warmup, seconds });
    const added = (share: number): number => percentile(door, share) - percentile(bare, share);
    return [
      { name: 'added to the first token, p50', value: added(0.5), unit: 'ms' },
      {
        name: 'added to the first token, p99',
        value: added(0.99),
        unit: 'ms',
        target: { at: 'most', value: 3 },
        note: `of ${String(answers)} answers, in turns with the upstream itself, after some 1,000 answers to 16 callers`,
      },
      {
        name: 'processor time of one piece, beyond a bare relay',
        value: pieces.microseconds - relayed.microseconds,
        unit: 'µs',
        target: { at: 'most', value: 150 },
        note: `${String(open)} streams at once, a piece a second each, for ${String(seconds)} s, spread over the second`,
      },
      { name: 'processor time of one piece', value: pieces.microseconds, unit: 'µs' },
      { name: 'a bare relay: processor time of one piece', value: relayed.microseconds, unit: 'µs' },
      { name: `a piece while ${String(open)} streams are open, p50`, value: median(pieces.times), unit: 'ms' },
      {
        name: `a piece while ${String(open)} streams are open, p99`,
        value: percentile(pieces.times, 0.99),
        unit: 'ms',
      },
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function start(stops: (() => Promise<void>)[]): Promise<Subject> {
  const { upstream, data } = await openBed(stops, 'streaming-upstream.ts');
  const site = await startSite(data);
  stops.push(site.stop);
  const relay = await startChild({
    command: process.execPath,
    args: ['tests/bench/helpers/bare-relay.mjs', upstream],
    ready: readyLine,
  });
  stops.push(relay.stop);
  return {
    door: {
      target: {
        url: `${site.ready}/wp-json/svc-openai/v1`,
        headers: { authorization: `Bearer ${benchKey}` },
        model: 'openai/gpt-4.1-mini',
      },
      pid: site.pid,
    },
    relay: { target: { url: `${relay.ready}/v1`, headers: {}, model: 'gpt-4.1-mini' }, pid: relay.pid },
    upstream: { url: `${upstream}/v1`, headers: {}, model: 'gpt-4.1-mini' },
  };
}

/** One answer after the other, in turns with the upstream itself. */
async function firstTokens({ door, upstream }: Subject, answers: number): Promise<{ door: number[]; bare: number[] }> {
  const first = async (target: CompletionTarget): Promise<number> =>
    (await (await openCompletion(target, 'Count to ten.')).times)[0] ?? Number.NaN;
  const times = { door: [] as number[], bare: [] as number[] };
  for (let count = 0; count < answers; count += 1) {
    times.door.push(await first(door.target));
    times.bare.push(await first(upstream));
  }
  return times;
}

/**
 * Each stream gets a piece a second. They open over a second, so that hardly two pieces arrive together: a process that
 * sleeps before each piece spends twice as much on it. What arrives in the seconds of `warmup` does not count.
 */
async function manyStreams(
  { target, pid }: Measured,
  { open, warmup, seconds }: { readonly open: number; readonly warmup: number; readonly seconds: number },
): Promise<{ microseconds: number; times: number[] }> {
  const streams: Awaited<ReturnType<typeof openCompletion>>[] = [];
  for (let count = 0; count < open; count += 1) {
    const [stream] = await Promise.all([openCompletion(target, 'Please hold.'), sleep(1_000 / open)]);
    streams.push(stream);
  }
  await sleep(warmup * 1_000);
  const before = await processorTime(pid);
  await sleep(seconds * 1_000);
  const spent = (await processorTime(pid)) - before;
  for (const stream of streams) stream.close();
  const times = (await Promise.all(streams.map((stream) => stream.times))).flatMap((one) => one.slice(warmup));
  return { microseconds: (spent * 1_000) / (open * seconds), times };
}
