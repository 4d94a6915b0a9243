import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptArguments } from '../../helpers/running-site.ts';
import { runToEnd, startChild } from './child.ts';
import type { Child } from './child.ts';
import { processorTime } from './load.ts';

export interface DataFolder {
  readonly env: Readonly<Record<string, string>>;
  /** `npm run cli -- ...args` without npm's own start. */
  cli(...args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/** An empty data folder and the environment of a site that lives in it, with an administrator, on a free port. */
export async function createDataFolder(): Promise<DataFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-site-'));
  const env = {
    PORT: '0',
    DATA_DIR: folder,
    ADMIN_USER: 'admin',
    ADMIN_PASSWORD: 'bench-password',
    ADMIN_EMAIL: 'admin@example.com',
  };
  return {
    env,
    cli: (...args) => runToEnd(process.execPath, ['host/cli/main.js', ...args], { env }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export const readyLine = /Ready on (http:\/\/\S+)/;

/** Starts the site as `npm start` does. */
export async function startSite({ env }: DataFolder): Promise<Child> {
  return startChild({ command: process.execPath, args: await scriptArguments('start'), env, ready: readyLine });
}

/** What a program takes until it is ready, in milliseconds: of the processor, and in all. It is stopped after that. */
export async function timeToReady(
  begin: () => Promise<Child>,
): Promise<{ readonly processor: number; readonly readyAfter: number }> {
  const child = await begin();
  try {
    return { processor: await processorTime(child.pid), readyAfter: child.readyAfter };
  } finally {
    await child.stop();
  }
}

/** The REST key of `openBed`. */
export const benchKey = 'bench-key-of-24-characters';

/** Starts a TypeScript file of this folder as a process of its own. @param stops gets what ends it */
export async function startHelper(
  stops: (() => Promise<void>)[],
  file: string,
  ...args: readonly string[]
): Promise<Child> {
  const child = await startChild({
    command: process.execPath,
    args: [`tests/bench/helpers/${file}`, ...args],
    ready: readyLine,
  });
  stops.push(child.stop);
  return child;
}

/**
 * An upstream, and the data folder of a site that has it as OpenAI and a REST key.
 *
 * @param stops gets what ends each
 * @param file of the upstream, in this folder
 */
export async function openBed(
  stops: (() => Promise<void>)[],
  file: string,
  ...args: readonly string[]
): Promise<{ readonly upstream: string; readonly data: DataFolder }> {
  const upstream = await startHelper(stops, file, ...args);
  const data = await createDataFolder();
  stops.push(data.remove);
  await data.cli('svc', 'key', 'set', benchKey);
  await data.cli('svc', 'provider', 'set', 'openai', '--api-key=bench', `--base-url=${upstream.ready}/v1`);
  return { upstream: upstream.ready, data };
}
