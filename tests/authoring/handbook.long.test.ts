import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { checkout, runCli } from '../helpers/running-site.ts';

/** The steps of the handbook in their order: files to write, and commands to run. */
async function readSteps(): Promise<{ readonly file?: string; readonly text: string }[]> {
  const text = await readFile(join(checkout, 'host', 'plugin-api', 'HANDBOOK.md'), 'utf8');
  return [...text.matchAll(/^```(\S+)(?: (\S+))?\n([^]*?)^```/gm)].map(([, language, file, content = '']) => {
    if (language !== 'sh' && file === undefined) throw new Error(`A snippet has no file: ${content.slice(0, 60)}`);
    return { text: content, ...(file !== undefined && { file }) };
  });
}

describe('the handbook for authors', () => {
  let folder = '';
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-handbook-')));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('leads from an empty folder to a checked, tested and installed plugin', async () => {
    const plugins = join(folder, 'plugins');
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: join(folder, 'data'),
      PLUGIN_DIRS: `${plugins},${join(checkout, 'plugins')}`,
    };
    await mkdir(env.DATA_DIR, { recursive: true });
    const printed: Record<string, string> = {};
    for (const { file, text } of await readSteps()) {
      if (file !== undefined) {
        await mkdir(dirname(join(plugins, file)), { recursive: true });
        await writeFile(join(plugins, file), text);
        continue;
      }
      for (const line of text.trim().split('\n')) {
        const [command = '', ...given] = [
          ...line.replace('npm run cli -- plugin ', '').matchAll(/(?:[^\s"]|"[^"]*")+/g),
        ].map(([word]) => word.replaceAll('"', '').replace('../plugins', plugins));
        const output = command === 'pack' ? ['--output', folder] : [];
        printed[command] = await runCli(['plugin', command, ...given, ...output], env);
      }
    }
    expect(Object.keys(printed)).to.deep.equal(['new', 'test', 'check', 'pack']);
    expect(printed['check']?.trim()).to.equal('The check found no errors and no warnings.');
    expect(printed['test']).to.match(/pass 5\n[^]*fail 0/);
    const site = { ...env, PLUGIN_DIRS: `${join(folder, 'installed')},${join(checkout, 'plugins')}` };
    const zip = join(folder, 'order-helper-0.2.0.zip');
    expect(await runCli(['plugin', 'install', zip, '--activate'], site)).to.contain('state: active');
    expect(await runCli(['order-helper', 'discount', 'Ada'], site)).to.equal('customer: Ada\npercent: 10\n');
  }).timeout(300_000);
});
