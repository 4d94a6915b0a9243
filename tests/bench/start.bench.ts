import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchRow } from './bench-row.ts';
import { startChild } from './helpers/child.ts';
import { createDataFolder, readyLine, startSite } from './helpers/site.ts';
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
  const { times, idleSeconds } = short ? { times: 2, idleSeconds: 2 } : { times: 7, idleSeconds: 8 };
  const data = await createDataFolder();
  try {
    const first = await startOnce(data, 0);
    const direct: Start[] = [];
    for (let index = 0; index < times; index += 1) direct.push(await startOnce(data, index < 3 ? idleSeconds : 0));
    const byNpm: Start[] = [];
    for (let index = 0; index < times; index += 1) byNpm.push(await startByNpm(data));
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
      {
        name: `resident memory, idle for ${String(idleSeconds)} s`,
        value: median(memories),
        unit: 'MB',
        target: most(130),
        note: 'the goal is 120 MB',
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
