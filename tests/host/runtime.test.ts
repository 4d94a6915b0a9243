import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { checkout } from '../helpers/running-site.ts';

const oldNode = pathToFileURL(join(checkout, 'tests/host/fixtures/old-node.mjs')).href;

/** Stands where `host/main.js` does: says under which Node it runs, and ends as it is told. */
const program = `
import { isRuntimeCurrent } from './runtime.js';
if (isRuntimeCurrent()) {
  const [, , how] = process.argv;
  process.on('SIGTERM', () => process.exit(7));
  console.log(JSON.stringify({ how, flags: process.execArgv.length, version: process.versions.node }));
  if (how === 'wait') setInterval(() => undefined, 1000);
  else if (how === 'die') process.kill(process.pid, 'SIGKILL');
  else process.exit(Number(how));
}
`;

describe('a Node that is too old (D36)', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-runtime-'));
    await mkdir(join(folder, 'host', 'cli'), { recursive: true });
    for (const file of ['runtime.js', 'main.js', 'cli/main.js'])
      await cp(join(checkout, 'host', file), join(folder, 'host', file));
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(join(folder, 'host', 'program.js'), program);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Puts the Node of this test where npm puts the one of package.json. */
  async function pinNode(): Promise<void> {
    const system = process.platform === 'win32' ? 'win' : process.platform;
    const pinned = join(folder, 'node_modules', `node-${system}-${process.arch}`);
    await mkdir(join(pinned, 'bin'), { recursive: true });
    await symlink(process.execPath, join(pinned, 'bin', system === 'win' ? 'node.exe' : 'node'));
    await writeFile(join(pinned, 'package.json'), JSON.stringify({ version: process.versions.node }));
  }

  const start = (version: string, file: string, ...args: readonly string[]) =>
    run(version, [process.execPath, '--import', oldNode, join(folder, 'host', file), ...args]);
  const run = (version: string, [program, ...args]: readonly string[], given: NodeJS.ProcessEnv = {}) => {
    const env = { ...process.env, npm_command: undefined, ...given, TEST_NODE_VERSION: version };
    const child = spawn(program ?? '', args, { env });
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
      ([out, err, [status, signal]]) => ({
        out,
        err,
        status: status as number | null,
        signal: signal as string | null,
      }),
    );
    return { child, ended };
  };

  it('is told what to install where npm brought no newer one, before anything else is loaded', async () => {
    for (const file of ['main.js', 'cli/main.js'])
      for (const version of ['20.11.0', '22.18.9']) {
        const { status, err } = await start(version, file).ended;
        expect(err).to.equal(
          `Node ${version} is too old. Install Node 24 or newer from https://nodejs.org, or run "npm ci" without --omit=optional, which brings one.\n`,
        );
        expect(status).to.equal(1);
      }
  });

  it('starts the same command under the one that npm brought, and ends as it does', async () => {
    await pinNode();
    const { out, err, status } = await start('20.11.0', 'program.js', '3').ended;
    expect(err).to.equal(`Node 20.11.0 is too old; this runs under Node ${process.versions.node}.\n`);
    expect(JSON.parse(out)).to.deep.equal({ how: '3', flags: 2, version: process.versions.node });
    expect(status).to.equal(3);
    expect((await start('20.11.0', 'program.js', 'die').ended).signal).to.equal('SIGKILL');
  });

  it('passes signals on', async () => {
    await pinNode();
    const { child, ended } = start('22.0.0', 'program.js', 'wait');
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await ended).to.include({ status: 7 });
  });

  it('has both end with what only passes them on: that Node itself, and the shell of npm', async () => {
    await pinNode();
    const alone = start('22.0.0', 'program.js', 'wait');
    await once(alone.child.stdout, 'data');
    alone.child.kill('SIGKILL');
    // Its output ends with the last process that has it.
    await alone.ended;
    const command = `"${process.execPath}" --import "${oldNode}" "${join(folder, 'host', 'program.js')}" wait; exit`;
    for (const version of ['22.0.0', '24.0.0']) {
      const { child, ended } = run(version, ['sh', '-c', command], { npm_command: 'exec' });
      await once(child.stdout, 'data');
      child.kill('SIGTERM');
      await ended;
    }
  });

  it('is not what 22.19 and newer are', async () => {
    for (const version of ['22.19.0', '23.0.0', '24.21.0', '100.1.0'])
      expect(await start(version, 'program.js', '0').ended).to.include({ err: '', status: 0 });
  });
});
