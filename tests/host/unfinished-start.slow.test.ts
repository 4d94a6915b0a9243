import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { checkout } from '../helpers/running-site.ts';

/** Composes a host and reports what came of it. The process ends by itself only when nothing is left open. */
const script = `
  import { keepAlive } from './host/clock.ts';
  import { readConfig } from './host/start/config.ts';
  import { createHost } from './host/host.ts';
  const outcome = await keepAlive(createHost({ config: readConfig(), write: () => {} })).then(() => 'composed', (error) => error.code ?? error.message);
  process.stdout.write(outcome);
`;

/** Idle connections that were left open would be given up, and the process end, after half a minute; in milliseconds. */
const stillOpen = 20_000;

function compose(env: Readonly<Record<string, string>>): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: checkout,
      env: { PATH: process.env.PATH ?? '', ...env },
    });
    let said = '';
    let killTimer: NodeJS.Timeout | undefined;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        // From then on: how long it takes to get so far is no matter.
        killTimer ??= setTimeout(() => child.kill('SIGKILL'), stillOpen);
      });
    }
    child.once('close', (code) => {
      clearTimeout(killTimer);
      resolve({ code, said });
    });
  });
}

describeHosts('a host that cannot be composed', ({ location }) => {
  it('closes what it had opened, so that the process can end', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'unfinished-'));
    const notAFolder = join(directory, 'plugins');
    await writeFile(notAFolder, '');
    const { databaseUrl } = location();
    // The database is open and migrated by the time the plugin folder turns out to be a file.
    const outcome = await compose({
      DATA_DIR: join(directory, 'data'),
      PLUGIN_DIRS: notAFolder,
      SECRET_KEY: 'a key for tests alone',
      ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
    });
    await rm(directory, { recursive: true, force: true });
    expect(outcome).to.deep.equal({ code: 0, said: 'ENOTDIR' });
  });
});
