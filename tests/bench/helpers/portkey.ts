import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../helpers/free-port.ts';
import { runToEnd, startChild } from './child.ts';
import type { Child } from './child.ts';

const packageName = '@portkey-ai/gateway';
const version = '1.15.2';

export interface Portkey extends Child {
  readonly url: string;
  readonly version: string;
}

/**
 * Installs Portkey's gateway into a temporary folder, for this comparison alone, and starts it.
 *
 * @throws Error that says why it could not be had (no network, say).
 */
export async function startPortkey(): Promise<Portkey> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-portkey-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private": true}');
    await runToEnd(
      'npm',
      [
        'install',
        '--no-audit',
        '--no-fund',
        '--ignore-scripts',
        '--fetch-retries=1',
        '--save-exact',
        `${packageName}@${version}`,
      ],
      { cwd: folder },
    );
    const root = join(folder, 'node_modules', packageName);
    const installed = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    const port = await findFreePort();
    const child = await startChild({
      command: process.execPath,
      args: [join(root, 'build', 'start-server.js'), `--port=${String(port)}`, '--headless'],
      cwd: folder,
      ready: /Ready for connections/,
    });
    const stop = async (): Promise<void> => {
      await child.stop();
      await remove();
    };
    return { ...child, url: `http://127.0.0.1:${String(port)}`, version: installed.version, stop };
  } catch (error) {
    await remove();
    throw error;
  }
}
