import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { offerRecovery } from '../../host/recovery.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { checkout, runCli } from '../helpers/running-site.ts';
import { becomes, until } from '../helpers/until.ts';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';

describe('a site that a plugin keeps from starting', () => {
  let folders: PluginFolders;
  let env: Record<string, string> = {};
  before(async () => {
    folders = await createPluginFolders();
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-recovery-'));
    env = {
      ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
      ...{ PORT: '0', DATA_DIR: dataDir, PLUGIN_DIRS: folders.directory },
    };
    await folders.write('ending', {
      files: {
        'index.js': "export default { register() { if (process.argv[1].endsWith('host/main.js')) process.exit(7); } };",
      },
    });
    await folders.write('late', {
      files: {
        'index.js': `export default {
          register({ hooks }) { hooks.addAction('host_started', async () => { await null; process.exit(8); }); },
        };`,
      },
    });
    await folders.write('other', { files: { 'index.js': 'export default { register() {} };' } });
    for (const slug of ['ending', 'other']) await runCli(['plugin', 'activate', slug], env);
  });
  after(async () => {
    await rm(env['DATA_DIR'] ?? '', { recursive: true, force: true });
    await folders.remove();
  });

  function start(more: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, ['host/main.js'], { cwd: checkout, env: { ...env, ...more } });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, ended, printed: () => printed };
  }

  it('starts without it by an address that the third start prints, and that works once', async () => {
    for (const next of ['Start again, or without the plugin: PLUGINS=ending', 'Start again for an address']) {
      const site = start();
      expect(await site.ended, site.printed()).to.equal(7);
      expect(site.printed()).to.contain('"event":"start_unfinished","plugin":"ending"').and.contain(next);
    }
    const site = start();
    try {
      const address = (): string => /^http:\S+\/recovery\?key=\S+$/m.exec(site.printed())?.[0] ?? '';
      await until('the address', () => address() !== '');
      expect(site.printed()).to.contain("The plugin 'ending' ended the last two starts.");
      const link = new URL(address());
      const status = async (path: string, init?: RequestInit): Promise<number> =>
        (await fetch(new URL(path, link), init)).status;
      expect(await status('/healthz')).to.equal(200);
      for (const path of ['/', '/readyz', '/recovery', '/recovery?key=wrong'])
        expect(await status(path, { method: path === '/' ? 'GET' : 'POST' }), path).to.equal(503);
      const page = await fetch(link);
      expect([page.status, await page.text()])
        .to.have.nested.property('1')
        .that.contains('Start without ending');
      const response = await fetch(link, { method: 'POST', redirect: 'manual' });
      expect([response.status, response.headers.get('location')]).to.deep.equal([303, '/admin/plugins']);
      await until('the site', () => site.printed().includes('Ready on'));
      const url = /Ready on (\S+)/.exec(site.printed())?.[1] ?? '';
      await becomes(async () => (await fetch(`${url}/readyz`)).status, 200);
      expect(site.printed()).to.match(/"plugin":"ending","reason":"This start leaves it out/);
      expect((await fetch(`${url}${link.pathname}${link.search}`, { method: 'POST' })).status).to.equal(404);
    } finally {
      site.child.kill('SIGTERM');
      await site.ended;
    }
    for (const why of ['the plugin is still active', 'and ends the next start too'])
      expect(await start().ended, why).to.equal(7);
    await runCli(['plugin', 'deactivate', 'ending'], env);
    const off = start();
    await until('the site', () => off.printed().includes('Ready on'));
    expect(off.printed()).to.not.contain('/recovery?key=');
    off.child.kill('SIGTERM');
    await off.ended;
  }).timeout(120_000);

  it('counts starts that a plugin ends in its callback of host_started', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-recovery-'));
    try {
      await runCli(['plugin', 'activate', 'late'], { ...env, DATA_DIR: dataDir });
      for (let times = 0; times < 2; times += 1) {
        const site = start({ DATA_DIR: dataDir });
        expect(await site.ended, site.printed()).to.equal(8);
        expect(site.printed()).to.contain('"event":"start_unfinished","plugin":"late"');
      }
      const site = start({ DATA_DIR: dataDir });
      await until('the address', () => /\/recovery\?key=\S+$/m.test(site.printed()));
      expect(site.printed()).to.contain("The plugin 'late' ended the last two starts.");
      site.child.kill();
      await site.ended;
      const without = start({ DATA_DIR: dataDir, PLUGINS: 'late' });
      await until('the site', () => without.printed().includes('Ready on'));
      expect(await readdir(dataDir)).to.not.include('start.json');
      without.child.kill();
      expect(await without.ended).to.equal(0);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }).timeout(60_000);

  it('is not recovered by an address that has expired', async () => {
    const clock = createFakeClock();
    const lines: string[] = [];
    const offered = failureOf(
      offerRecovery({
        ...{ config: { host: '127.0.0.1', port: 0, siteUrl: null }, clock, plugin: 'ending' },
        print: (line) => void lines.push(line),
      }),
    );
    await until('the address', () => lines.length === 2);
    await clock.advance(900_000);
    expect(await offered).to.have.property('message', 'The address was not opened within 15 minutes. Start again.');
    expect(await failureOf(fetch(lines[1] ?? ''))).to.be.an('error');
  });
});
