import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';
import { checkout } from '../helpers/running-site.ts';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const works = 'export default { register() {} };';

/** What a plugin does, and what commands then say of it. */
const kinds: Readonly<Record<string, readonly [code: string, said: RegExp]>> = {
  reject: [`Promise.reject(new Error('lost at import')); ${works}`, /plugin 'reject' failed.*lost at import/],
  text: [`Promise.reject('only a text'); ${works}`, /plugin 'text' failed.*only a text/],
  port: [
    `import { createServer } from 'node:http';
     export default { register() { createServer().listen(Number(process.env.TAKEN), '127.0.0.1'); } };`,
    /plugin 'port' listens on a port \(.*index\.js:2:\d+\)\. The command used a free port/,
  ],
  globals: [
    `Array.prototype.map = () => { throw new Error('replaced'); };
     export default { register() { JSON.parse = () => 1; process.stderr.write = () => true; console.log = () => {}; } };`,
    /^/,
  ],
  silences: [
    `import { ServerResponse } from 'node:http';
     export default { register() { ServerResponse.prototype.end = () => {}; } };`,
    /^/,
  ],
  leaves: [`process.exit(3); ${works}`, /"plugin":"leaves","stage":"import".*called process\.exit/],
  aborts: [
    'export default { register() { process.abort(); } };',
    /"plugin":"aborts","stage":"register".*called process\.abort/,
  ],
  timer: [
    `setTimeout(() => { throw new Error('late'); }, 100); ${works}`,
    /plugin 'timer' (still has a timer|failed.*late)/,
  ],
  lacks: [`import 'not-there'; ${works}`, /"plugin":"lacks","stage":"import".*Cannot find package 'not-there'/],
  syntax: ['export default { register() { ( } };', /"plugin":"syntax","stage":"import".*Unexpected token/],
  throws: [`export default { register() { throw new Error('boom'); } };`, /"plugin":"throws","stage":"register".*boom/],
  large: [`import './parts.js'; ${works}`, /^/],
};

const commands = [
  'plugin list',
  'plugin health',
  'option list',
  'user list',
  'cron list',
  'jobs list',
  'ability list',
  'post list',
  'db status',
  'security-log verify',
  'completion bash',
];

describe('commands beside a plugin that', () => {
  let folders: PluginFolders;
  let dataDir: string;
  let port = 0;
  const taken = createServer();
  before(async () => {
    folders = await createPluginFolders();
    dataDir = await mkdtemp(join(tmpdir(), 'svc-broken-'));
    await once(taken.listen(0, '127.0.0.1'), 'listening');
    port = (taken.address() as AddressInfo).port;
    for (const [slug, [code]] of Object.entries(kinds)) await folders.write(slug, { files: { 'index.js': code } });
    const parts = Array.from({ length: 500 }, (_, index) => [
      `part-${index}.js`,
      `export default '${'x'.repeat(999)}';`,
    ]);
    await folders.write('large', {
      files: {
        'index.js': kinds['large']?.[0] ?? '',
        'parts.js': parts.map(([file = '']) => `import './${file}';`).join('\n'),
        ...(Object.fromEntries(parts) as Record<string, string>),
      },
    });
    await folders.write('newer', { manifest: { host: '^9' }, files: { 'index.js': works } });
    await folders.write('looping', {
      files: { 'index.js': 'export default { register() { for (;;) Math.random(); } };' },
    });
    await folders.write('open', {
      files: {
        'index.js': `export default { register(host) { host.rest.registerRoute('open/v1', '/a', { handler: () => 1 }); } };`,
      },
    });
    await folders.write('endless', { files: { 'index.js': `for (;;) Math.random(); ${works}` } });
  });
  after(async () => {
    taken.close();
    await folders.remove();
    await rm(dataDir, { recursive: true, force: true });
  });

  const run = (command: string, env: Record<string, string> = {}): Promise<Ended> =>
    new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        ['host/cli/main.js', ...command.split(' ')],
        {
          cwd: checkout,
          env: {
            ...{ PATH: process.env.PATH, DATA_DIR: dataDir, PLUGIN_DIRS: folders.directory, TAKEN: String(port) },
            ...env,
          },
        },
        (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
      );
    });
  const activate = (...slugs: string[]): Promise<Ended> =>
    run(`option set active_plugins ${JSON.stringify(slugs)} --json`, { PLUGINS: 'off' });

  it('fails in any way run to their end, and say which one it is', async () => {
    const slugs = [...Object.keys(kinds), 'newer'];
    expect((await activate(...slugs)).code).to.equal(0);
    for (const command of commands) {
      const { code, out, err } = await run(command);
      expect(code, `${command}: ${err}`).to.equal(0);
      expect(out, command).not.to.equal('');
      for (const [slug, [, said]] of Object.entries(kinds)) expect(err, `${command}, ${slug}`).to.match(said);
    }
    const { out: listed, err: logged } = await run('plugin list');
    expect(listed).to.match(/globals .* It replaced .*(JSON\.parse|Array\.prototype\.map)/);
    expect(listed).to.match(/silences .* It replaced http\.ServerResponse\.prototype\.end/);
    expect(logged, 'what the log of the site has').not.to.contain('plugin_warning');
    const { err: report } = await run('doctor');
    expect(report).to.match(/newer failed at manifest.*requires host \^9/);
    for (const slug of slugs) {
      const { code, out: state, err } = await run(`plugin deactivate ${slug}`);
      expect([code, state], err).to.deep.equal([
        0,
        `slug: ${slug}\nstate: ${slug === 'newer' ? 'failed' : 'inactive'}\n`,
      ]);
    }
  }).timeout(600_000);

  it('is checked name it in a finding and go on', async () => {
    for (const slug of ['reject', 'text', 'leaves', 'aborts', 'lacks', 'throws']) {
      const { code, out, err } = await run(`plugin check ${join(folders.directory, slug)} --json`);
      const started = (JSON.parse(out) as { rule: string; message: string }[]).filter(({ rule }) => rule === 'start');
      expect([code, started.length > 0], `${slug}: ${err}`).to.deep.equal([1, true]);
      expect(started[0]?.message).to.include(`'${slug}'`);
    }
  }).timeout(600_000);

  it('is checked has its result printed, whatever it replaces', async () => {
    for (const slug of ['globals', 'silences']) {
      const { out, err } = await run(`plugin check ${join(folders.directory, slug)} --json`);
      const findings = JSON.parse(out) as { message: string }[];
      expect(findings.map(({ message }) => message).join(), err).to.match(/It replaced /);
    }
  }).timeout(600_000);

  it('is activated and blocks in register ends with a sentence, and the plugin stays inactive', async () => {
    await activate();
    const limit = { BLOCKED_EXIT_SECONDS: '3' };
    const { code, err } = await run('plugin activate looping', limit);
    expect([code, err.trimEnd().split('\n').at(-1)]).to.deep.equal([
      1,
      "The plugin 'looping' blocked the command, so the command was ended.",
    ]);
    expect(err).not.to.contain('PLUGINS');
    expect((await run('plugin list')).out).to.match(/^looping +1\.0\.0 +inactive$/m);
  }).timeout(300_000);

  it('warns is activated shows the warning once, and not with each command', async () => {
    await activate();
    const warns = /"event":"plugin_warning","plugin":"open","reason":"The route GET \/open\/v1\/a has no 'permission'/;
    expect((await run('plugin activate open')).err).to.match(warns);
    const { out, err } = await run('plugin list');
    expect(err).not.to.contain('plugin_warning');
    expect(out).to.match(/^open .*has no 'permission'/m);
    await run('plugin deactivate open');
  }).timeout(300_000);

  it('blocks run again without it, with the same output and exit code', async () => {
    await activate('endless');
    const limit = { BLOCKED_EXIT_SECONDS: '3' };
    const listed = await run('option get blogname', limit);
    expect([listed.code, listed.out], listed.err).to.deep.equal([0, 'My site\n']);
    expect(listed.err).to.match(/"event":"command_repeated".*"plugin":"endless"/);
    expect((await run('option get blogname extra', limit)).code).to.equal(1);
    expect(await run('plugin deactivate endless', limit)).to.include({
      code: 0,
      out: 'slug: endless\nstate: inactive\n',
    });
  }).timeout(300_000);
});
