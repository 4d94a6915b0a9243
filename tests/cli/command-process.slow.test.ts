import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkout } from '../helpers/running-site.ts';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';

const ticking = `export default {
  register(host) {
    setInterval(() => undefined, 60_000);
    clearInterval(setInterval(() => undefined, 60_000));
    setTimeout(() => undefined, 60_000).unref();
    host.cli.addCommand({ name: 'tick long', description: 'Prints much', run: async () => 'long line\\n'.repeat(100_000) });
    host.cli.addCommand({ name: 'tick fail', description: 'Fails', run: async () => { throw new Error('Failed on purpose.'); } });
  },
};`;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

describe('the process of a command', () => {
  let folders: PluginFolders;
  let dataDir = '';
  before(async () => {
    folders = await createPluginFolders();
    dataDir = await mkdtemp(join(tmpdir(), 'cli-'));
    await folders.write('ticking', { manifest: { autoActivate: true }, files: { 'index.js': ticking } });
  });
  after(async () => {
    await folders.remove();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Without arguments, the site starts. @param readsLess whether standard output is closed after its first bytes. */
  const run = (
    args: readonly string[],
    readsLess = false,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Ended> =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PLUGIN_DIRS: folders.directory, ...more };
      const main = args.length === 0 ? 'host/main.js' : 'host/cli/main.js';
      const child = spawn(process.execPath, [main, ...args], { cwd: checkout, env });
      let out = '';
      let err = '';
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString();
        if (readsLess) child.stdout.destroy();
      });
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
      child.once('close', (code) => resolve({ code, out, err: err.replace(/^\{.*\}\n/gm, '') }));
    });

  it('ends when the command has ended, and names the plugin whose timer would have kept it', async () => {
    const { code, out, err } = await run(['option', 'get', 'blogname']);
    expect([code, out]).to.deep.equal([0, 'My site\n']);
    expect(err).to.match(/^The plugin 'ticking' still has a timer \(.*ticking\/index\.js:3:\d+\).*host\.clock.*\n$/);
  }).timeout(50_000);

  it('ends with the code of a failed command', async () => {
    const { code, err } = await run(['tick', 'fail']);
    expect(code).to.equal(1);
    expect(err).to.match(/^Error: Failed on purpose\.\n/);
  });

  it('says in the language of the terminal why the site does not open', async () => {
    const environment = { LANG: 'de_DE.UTF-8', PORT: 'high', ROLE: 'none' };
    const role = 'ROLE ist „none“; verwenden Sie eines von all, web, worker.';
    const port = 'PORT ist „high“; verwenden Sie eine ganze Zahl von 0 bis 65535.';
    const ended = { code: 1, out: '' };
    expect(await run([], false, environment)).to.deep.equal({ ...ended, err: `${port}\n${role}\n` });
    const get = ['option', 'get', 'blogname'];
    expect(await run(get, false, environment)).to.deep.equal({ ...ended, err: `Fehler: ${port}\n${role}\n` });
    const { err } = await run([...get, '--json'], false, environment);
    expect(err).to.match(/^Error: PORT is 'high'; use a whole number from 0 to 65535\.\nROLE is 'none'; use one of /);
  });

  it('prints everything before it ends', async () => {
    const { code, out } = await run(['tick', 'long']);
    expect([code, out.length]).to.deep.equal([0, 1_000_001]);
  });

  it('prints no stack when a reader of help or of a long list reads no further', async () => {
    for (const args of [
      ['tick', '--help'],
      ['tick', 'long'],
    ]) {
      const { code, err } = await run(args, true);
      expect(code).to.equal(0);
      expect(err).not.to.match(/ {4}at |EPIPE/);
    }
  });
});
