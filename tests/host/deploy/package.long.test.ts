import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { checkout, runCli, startSite, type Installation, type RunningSite } from '../../helpers/running-site.ts';

const run = promisify(execFile);
const program = 'node_modules/svc/built/package/host/cli/main.js';

const plugin = `
import { defineHooks } from './hooks.ts';
import type { Host } from '#plugin-api';

export default { register: (host: Host): void => defineHooks(host, 'of a shop') };
`;
const hooks = `
import { restError, type Host } from '#plugin-api';

export function defineHooks(host: Host, text: string): void {
  host.rest.registerRoute('shop/v1', '/text', {
    methods: ['GET'],
    permission: () => true,
    handler: ({ query }) => {
      if (query['fail'] !== undefined) throw restError(409, 'shop_failed', text);
      return Promise.resolve({ text });
    },
  });
}
`;

/** What npm makes of the package, installed in a folder beside nothing else. Its packages are those of the checkout. */
async function install(base: string): Promise<Installation> {
  await run('npm', ['pack', '--silent', '--pack-destination', base], { cwd: checkout });
  const folder = join(base, 'site');
  await mkdir(join(folder, 'node_modules/svc'), { recursive: true });
  const tarball = join(base, 'svc-1.0.0.tgz');
  await run('tar', [
    '--extract',
    '--gzip',
    '--file',
    tarball,
    '--strip-components=1',
    '--directory',
    join(folder, 'node_modules/svc'),
  ]);
  await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules/svc/node_modules'));
  return { folder, start: [program, 'start'], cli: [program] };
}

describe('the package', function () {
  this.timeout(300_000);
  let base: string;
  let installation: Installation;
  let site: RunningSite | undefined;
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'svc-package-'));
    installation = await install(base);
  });
  after(async () => {
    await site?.stop();
    await rm(base, { recursive: true, force: true });
  });

  it('starts in an empty folder and gives a first answer of the sandbox within a minute, with a plugin in TypeScript', async () => {
    const began = performance.now();
    const shop = join(installation.folder, 'plugins/shop');
    await mkdir(shop, { recursive: true });
    await writeFile(
      join(shop, 'plugin.json'),
      JSON.stringify({ slug: 'shop', name: 'Shop', version: '1.0.0', host: '^1' }),
    );
    await writeFile(join(shop, 'index.ts'), plugin);
    await writeFile(join(shop, 'hooks.ts'), hooks);
    site = await startSite({}, [], installation);
    await site.cli('plugin', 'activate', 'shop');
    await site.cli('svc', 'sandbox', 'on');
    const [key = ''] = /svc_[\w-]{20,}/.exec(await site.cli('svc', 'key', 'generate')) ?? [];
    const response = await fetch(`${site.url}/wp-json/svc/v1/generate`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ provider: 'openai', model: 'any', messages: [{ role: 'user', content: 'Say hello.' }] }),
    });
    expect(response.status).to.equal(200);
    expect(((await response.json()) as { content: string }).content).to.include('Say hello.');
    expect(performance.now() - began).to.be.below(60_000);
    // The plugin shares the classes of the product: its error keeps code and status.
    const failed = await fetch(`${site.url}/wp-json/shop/v1/text?fail`);
    expect([failed.status, ((await failed.json()) as { code: string }).code]).to.deep.equal([409, 'shop_failed']);
  });

  it('serves its pages, scripts and styles, and checks a plugin against the types that it brings', async () => {
    const page = await fetch(`${site?.url ?? ''}/admin/login`);
    expect(page.status).to.equal(200);
    const addresses = [...(await page.text()).matchAll(/(?:href|src)="(\/[^"]+\.(?:css|js)[^"]*)"/g)].map(
      ([, path = '']) => path,
    );
    expect(addresses).not.to.be.empty;
    for (const path of addresses) expect((await fetch(`${site?.url ?? ''}${path}`)).status, path).to.equal(200);
    const checked = await site?.cli('plugin', 'check', 'shop');
    expect(checked).not.to.match(/error/i);
  });

  it('creates the folder of a site: a secret key that only its owner reads, and no database', async () => {
    const { folder } = installation;
    const environment = { PATH: process.env['PATH'], DATA_DIR: join(base, 'unused') };
    expect(await runCli(['new', 'other'], environment, installation)).to.include('npm install && npm start');
    expect((await stat(join(folder, 'other/.env'))).mode & 0o777).to.equal(0o600);
    expect(await readFile(join(folder, 'other/.env'), 'utf8')).to.match(/^SECRET_KEY=[0-9a-f]{64}$/m);
    expect(await readFile(join(folder, 'other/svc.service'), 'utf8')).to.include(`WorkingDirectory=${folder}/other\n`);
    expect(await readFile(join(folder, 'other/compose.yaml'), 'utf8')).not.to.match(/^ *build:/m);
    await expectFailure(runCli(['new', 'other'], environment, installation), 'already exists');
    await expectFailure(runCli(['new', 'none/other'], environment, installation), 'does not exist');
    await expectFailure(stat(join(base, 'unused')), 'ENOENT');
  });
});

async function expectFailure(attempt: Promise<unknown>, text: string): Promise<void> {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason as Error,
  );
  expect(error?.message ?? 'no error').to.include(text);
}
