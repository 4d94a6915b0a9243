import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from './child.ts';

const packageName = 'graphile-worker';
const version = '0.18.0';

// Adds the jobs, then measures from the start of the runner until the last job has run.
const program = `
import { makeWorkerUtils, run, Logger } from 'graphile-worker';
const [connectionString, count, concurrency] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const logger = new Logger(() => () => undefined);
const utils = await makeWorkerUtils({ connectionString, logger });
await utils.migrate();
await utils.withPgClient((client) =>
  client.query("SELECT graphile_worker.add_job('trivial', json_build_object('n', n)) FROM generate_series(1, $1) AS n", [count]));
await utils.withPgClient((client) => client.query('ANALYZE'));
await utils.release();
let left = count;
let finished;
const all = new Promise((resolve) => { finished = resolve; });
const began = performance.now();
const runner = await run({
  connectionString, concurrency, logger, maxPoolSize: 10, noHandleSignals: true,
  taskList: { trivial: async () => { left -= 1; if (left === 0) finished(); } },
});
await all;
const milliseconds = performance.now() - began;
await runner.stop();
console.log(JSON.stringify({ milliseconds }));
process.exit(0);
`;

export interface GraphileWorker {
  readonly version: string;
  /** Milliseconds to run so many trivial jobs on an empty database. */
  drain(databaseUrl: string, init: { readonly count: number; readonly concurrency: number }): Promise<number>;
  remove(): Promise<void>;
}

/**
 * Installs graphile-worker into a temporary folder, for this comparison alone.
 *
 * @throws Error that says why it could not be had (no network, say).
 */
export async function installGraphileWorker(): Promise<GraphileWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-graphile-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}');
    await writeFile(join(folder, 'drain.js'), program);
    await runToEnd(
      'npm',
      ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1', `${packageName}@${version}`],
      {
        cwd: folder,
      },
    );
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    version,
    remove,
    async drain(databaseUrl, { count, concurrency }) {
      const args = [join(folder, 'drain.js'), databaseUrl, String(count), String(concurrency)];
      const printed = await runToEnd(process.execPath, args, { cwd: folder });
      return (JSON.parse(printed.trim().split('\n').at(-1) ?? '{}') as { milliseconds: number }).milliseconds;
    },
  };
}
