import { createSystemClock } from '../../host/clock.ts';
import { openDatabase } from '../../host/database/database.ts';
import { silentLog } from '../helpers/silent-log.ts';
import type { BenchRow } from './bench-row.ts';
import { startChild } from './helpers/child.ts';
import { load, probe, type Target } from './helpers/load.ts';
import { benchKey, createDataFolder, startSite, type DataFolder } from './helpers/site.ts';
import { median } from './helpers/statistics.ts';
import { seedLogs } from './logs-seed.ts';

export const title = 'The rate of GET /logs at 10,000 conversations, beside bare express 5 + express.json + ajv';

const callers = 16;

/** Both servers run at the same time and take turns within each round; ratios are of one round. */
export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { rounds, seconds, conversations } = short
    ? { rounds: 1, seconds: 1, conversations: 1_000 }
    : { rounds: 7, seconds: 3, conversations: 10_000 };
  const stops: (() => Promise<void>)[] = [];
  try {
    const data = await createDataFolder();
    stops.push(data.remove);
    const targets = { logs: await startLogs(data, conversations, stops), bare: await startBare(stops) };
    const rates = { logs: [] as number[], bare: [] as number[] };
    const processor: number[] = [];
    for (const target of Object.values(targets)) {
      await probe(target);
      await load(target, { callers, seconds });
    }
    for (let round = 0; round < rounds; round += 1) {
      const logs = await load(targets.logs, { callers, seconds });
      rates.logs.push(logs.rate);
      processor.push(logs.processor);
      rates.bare.push((await load(targets.bare, { callers, seconds })).rate);
    }
    return [
      { name: 'bare express + express.json + ajv', value: Math.round(median(rates.bare)), unit: 'requests/s' },
      { name: 'GET /logs, 20 rows, on SQLite', value: Math.round(median(rates.logs)), unit: 'requests/s' },
      {
        name: 'GET /logs beside bare express',
        value: median(rates.logs.map((rate, round) => rate / (rates.bare[round] ?? Number.NaN))),
        unit: 'ratio',
        target: { at: 'least', value: 0.3 },
      },
      { name: 'processor time of one GET /logs', value: median(processor), unit: 'ms' },
    ];
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startLogs(data: DataFolder, conversations: number, stops: (() => Promise<void>)[]): Promise<Target> {
  await data.cli('svc', 'key', 'set', benchKey);
  await fill(data, conversations);
  const site = await startSite(data);
  stops.push(site.stop);
  return {
    method: 'GET',
    url: `${site.ready}/wp-json/svc/v1/logs`,
    pid: site.pid,
    headers: { authorization: `Bearer ${benchKey}` },
  };
}

async function fill({ env }: DataFolder, conversations: number): Promise<void> {
  const clock = createSystemClock();
  const database = await openDatabase({ databaseUrl: null, dataDir: env['DATA_DIR'] ?? '', clock, log: silentLog });
  try {
    await seedLogs({ database, conversations, users: 20_000, bots: 5 });
  } finally {
    await database.close();
  }
}

async function startBare(stops: (() => Promise<void>)[]): Promise<Target> {
  const bare = await startChild({
    command: process.execPath,
    args: ['tests/bench/helpers/rest-server.ts', 'bare'],
    ready: /ready (\d+)/,
  });
  stops.push(bare.stop);
  return {
    url: `http://127.0.0.1:${bare.ready}/wp-json/bench/v1/generate`,
    headers: {},
    body: { provider: 'openai', model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Why is the sea salt?' }] },
  };
}
