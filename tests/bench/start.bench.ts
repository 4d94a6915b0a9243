import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchRow } from './bench-row.ts';
import { runToEnd, startChild } from './helpers/child.ts';
import { scriptArguments } from '../helpers/running-site.ts';
import { createDataFolder, readyLine, startSite, timeToReady } from './helpers/site.ts';
import type { DataFolder } from './helpers/site.ts';
import { median } from './helpers/statistics.ts';

export const title = 'Start and idle memory on SQLite, from the second start on';

interface Start {
  /** Milliseconds from spawn to the line that says it is ready. */
  readonly line: number;
  /** Milliseconds from spawn to the first 200 of /readyz. */
  readonly readyz: number;
  /** Resident memory after the idle time, in MB; null where the process is not node itself. */
  readonly memory: number | null;
}

export async function run({ short }: { readonly short: boolean }): Promise<BenchRow[]> {
  const { times, idleSeconds } = short ? { times: 2, idleSeconds: 2 } : { times: 7, idleSeconds: 30 };
  const data = await createDataFolder();
  try {
    const first = await startOnce(data, 0);
    const direct: Start[] = [];
    for (let index = 0; index < times; index += 1) direct.push(await startOnce(data, index < 2 ? idleSeconds : 0));
    const byNpm: Start[] = [];
    for (let index = 0; index < times; index += 1) byNpm.push(await startByNpm(data));
    const processor = await compareProcessorTime(data, times);
    const memories = direct.map(({ memory }) => memory).filter((memory) => memory !== null);
    const most = (value: number): NonNullable<BenchRow['target']> => ({ at: 'most', value });
    return [
      { name: 'first start, empty data folder', value: first.line, unit: 'ms' },
      {
        name: 'node, spawn to ready line',
        value: median(direct.map(({ line }) => line)),
        unit: 'ms',
        target: most(1500),
        note: 'the goal is 1,000 ms',
      },
      {
        name: 'node, spawn to 200 of /readyz',
        value: median(direct.map(({ readyz }) => readyz)),
        unit: 'ms',
        target: most(1500),
      },
      {
        name: 'npm start, spawn to ready line',
        value: median(byNpm.map(({ line }) => line)),
        unit: 'ms',
        target: most(1500),
      },
      ...processor,
      {
        name: `resident memory, idle for ${String(idleSeconds)} s`,
        value: median(memories),
        unit: 'MB',
        target: most(100),
      },
    ];
  } finally {
    await data.remove();
  }
}

async function startOnce(data: DataFolder, idleSeconds: number): Promise<Start> {
  const started = performance.now();
  const site = await startSite(data);
  try {
    await firstReady(site.ready);
    const readyz = performance.now() - started;
    if (idleSeconds === 0) return { line: site.readyAfter, readyz, memory: null };
    await sleep(idleSeconds * 1000);
    return { line: site.readyAfter, readyz, memory: await residentMegabytes(site.pid) };
  } finally {
    await site.stop();
  }
}

async function startByNpm({ env }: DataFolder): Promise<Start> {
  const site = await startChild({ command: 'npm', args: ['start'], env, ready: readyLine });
  await site.stop();
  return { line: site.readyAfter, readyz: site.readyAfter, memory: null };
}

async function firstReady(url: string): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const response = await fetch(`${url}/readyz`);
    await response.arrayBuffer();
    if (response.status === 200) return;
    await sleep(10);
  }
  throw new Error('/readyz did not answer 200 within five seconds of the ready line.');
}

/** What the process holds in memory, code shared with others included, as the kernel counts it. */
async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  return kilobytes / 1024;
}

/** Milliseconds of processor time, user and system, beside programs that do no more than they must; one after the other in turn. */
async function compareProcessorTime(data: DataFolder, times: number): Promise<BenchRow[]> {
  await data.cli('option', 'set', 'blogname', 'A site');
  const database = join(data.env['DATA_DIR'] ?? '', 'site.sqlite');
  const helper = (name: string): string => join(import.meta.dirname, 'helpers', name);
  const cli = await scriptArguments('cli');
  const [start, bareStart, command, bareCommand]: number[][] = [[], [], [], []];
  for (let index = 0; index < times; index += 1) {
    start?.push((await timeToReady(() => startSite(data))).processor);
    bareStart?.push(
      (
        await timeToReady(() =>
          startChild({ command: process.execPath, args: [helper('bare-server.mjs')], ready: readyLine }),
        )
      ).processor,
    );
    command?.push(await timeToEnd(data, [...cli, 'option', 'get', 'blogname']));
    bareCommand?.push(await timeToEnd(data, [helper('bare-option.mjs'), database, 'blogname']));
  }
  const rows = (name: string, own: readonly number[] = [], bare: readonly number[] = []): BenchRow[] => [
    { name: `${name}, processor time`, value: median(own), unit: 'ms' },
    { name: 'a bare program for that', value: median(bare), unit: 'ms' },
    {
      name: `${name}, beside the bare program`,
      value: median(own) / median(bare),
      unit: 'ratio',
      target: { at: 'most', value: 2.5 },
    },
  ];
  return [...rows('start to ready', start, bareStart), ...rows('option get', command, bareCommand)];
}

async function timeToEnd({ env }: DataFolder, args: readonly string[]): Promise<number> {
  const script = `TIMEFORMAT='%U %S'; { time "$@" >/dev/null 2>&1; } 2>&1`;
  const printed = await runToEnd('bash', ['-c', script, 'bash', process.execPath, ...args], { env });
  const [user, system] = (printed.trim().split('\n').at(-1) ?? '').split(' ');
  return (Number(user) + Number(system)) * 1000;
}
