import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { pluginFiles } from '../loader/helpers/zips.ts';

const shell = promisify(execFile);

describe('commands whose output nothing reads', () => {
  it('finish their work without a stack trace', async function () {
    this.timeout(60_000);
    const folder = await mkdtemp(join(tmpdir(), 'svc-cli-'));
    const env = { ...process.env, DATA_DIR: folder, DATABASE_URL: '' };
    const run = (line: string) => shell('bash', ['-c', `set -o pipefail; ${line}`], { env });
    const { stderr } = await run(
      'node host/cli/main.js option set blogname Shop | true; node host/cli/main.js --help | true',
    );
    for (const trace of ['EPIPE', '    at ']) expect(stderr).not.to.contain(trace);
    expect((await run('node host/cli/main.js option get blogname')).stdout).to.contain('Shop');
    await rm(folder, { recursive: true, force: true });
  });
});

describe('commands that are interrupted', () => {
  it('end at once by SIGINT or SIGTERM, without a stack trace', async function () {
    this.timeout(60_000);
    const folder = await mkdtemp(join(tmpdir(), 'svc-cli-'));
    await mkdir(join(folder, 'plugins', 'sample'), { recursive: true });
    const code = `export default { register(host) { host.cli.addCommand({ name: 'sample wait', description: 'Waits.',
      run: () => { process.stderr.write('begun'); setInterval(() => {}, 1000); return new Promise(() => {}); } }); } };`;
    for (const [name, content] of Object.entries(pluginFiles({}, code)))
      await writeFile(join(folder, 'plugins', 'sample', name), content);
    const env = { ...process.env, DATA_DIR: folder, DATABASE_URL: '', PLUGIN_DIRS: join(folder, 'plugins') };
    await shell('node', ['host/cli/main.js', 'plugin', 'activate', 'sample'], { env });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const child = spawn('node', ['host/cli/main.js', 'sample', 'wait'], { env });
      let printed = '';
      const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
      const begun = new Promise<void>((resolve) =>
        child.stderr.on('data', (chunk: Buffer) => {
          printed += chunk.toString();
          if (printed.includes('begun')) resolve();
        }),
      );
      await Promise.race([begun, ended]);
      expect(printed).to.contain('begun');
      child.kill(signal);
      await ended;
      expect([child.signalCode, child.exitCode].join(), printed).to.be.oneOf([`${signal},`, ',130', ',143']);
      for (const trace of ['    at ', 'Error']) expect(printed).not.to.contain(trace);
    }
    await rm(folder, { recursive: true, force: true });
  });
});
