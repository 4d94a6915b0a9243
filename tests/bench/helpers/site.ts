import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd, startChild } from './child.ts';
import type { Child } from './child.ts';

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
export function startSite({ env }: DataFolder): Promise<Child> {
  return startChild({ command: process.execPath, args: ['host/main.js'], env, ready: readyLine });
}
