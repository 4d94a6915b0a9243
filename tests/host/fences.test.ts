import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { signIn } from '../helpers/sign-in.ts';

const good = `export default { register(host) { host.rest.registerRoute('good/v1', '/ok', { permission: () => true, handler: () => 'ok' }); } };`;

/** Entry modules by the stage at which they throw. */
const broken: Record<string, string> = {
  import: `throw new Error('broken at import');`,
  syntax: `export default {`,
  register: `export default { register() { throw new Error('broken at register'); } };`,
  rejection: `export default { async register() { throw new Error('broken at register'); } };`,
  activate: `export default { register() {}, activate() { throw new Error('broken at activate'); } };`,
  shape: `export const nothing = 1;`,
};

/** Entry modules that register well and throw when they are used. */
const treacherous: Record<string, string> = {
  action: `export default { register(host) { host.hooks.addAction('bad_moment', () => { throw new Error('broken in an action'); }); } };`,
  route: `export default { register(host) { host.rest.registerRoute('route/v1', '/bad', { permission: () => true, handler: () => { throw new Error('broken in a route'); } }); } };`,
  job: `export default { async register(host) { host.hooks.addAction('bad_job', async () => { throw new Error('broken in a job'); }); await host.cron.scheduleSingle(host.clock.now(), 'bad_job'); } };`,
};

describe('a plugin that throws leaves the site up', () => {
  let directory: string;
  let host: TestHost;

  const start = async (plugins: Record<string, string>): Promise<void> => {
    for (const [slug, entry] of Object.entries({ ...plugins, good })) {
      await mkdir(join(directory, slug));
      await writeFile(
        join(directory, slug, 'plugin.json'),
        JSON.stringify({ slug, name: slug, version: '1.0.0', description: slug, main: 'index.js', host: '^1' }),
      );
      await writeFile(join(directory, slug, 'index.js'), entry);
    }
    host = await createTestHost({ plugins: [...Object.keys(plugins), 'good'], pluginDirs: [directory] });
  };
  const status = (slug: string) => host.plugins.list().find((plugin) => plugin.slug === slug);
  const expectSiteUp = async (): Promise<void> => {
    expect(await (await host.fetch('/wp-json/good/v1/ok')).json()).to.equal('ok');
    expect((await host.fetch('/')).status).to.equal(200);
    expect((await host.fetch('/readyz')).status).to.equal(200);
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-plugins-'));
  });
  afterEach(async () => {
    await host.stop();
    await rm(directory, { recursive: true, force: true });
  });

  for (const [stage, entry] of Object.entries(broken)) {
    if (stage === 'activate') continue;
    it(`at its start (${stage}), and is shown as failed with its reason`, async () => {
      await start({ [stage]: entry });
      expect(status(stage)).to.have.property('state', 'failed');
      expect(status(stage)?.failure?.message).to.be.a('string').that.is.not.empty;
      expect(status('good')).to.have.property('state', 'active');
      await expectSiteUp();
    });
  }

  it('when it is activated, and is shown as failed with its reason', async () => {
    await start({ activate: broken['activate'] ?? '' });
    await host.plugins.deactivate('activate');
    const refusal = await host.plugins.activate('activate').then(
      () => null,
      (error: unknown) => error as Error,
    );
    expect(refusal?.message).to.include('broken at activate');
    expect(status('activate')?.failure).to.include({ stage: 'activate', message: 'broken at activate' });
    await expectSiteUp();
  });

  it('in an action, and runs on with the error noted', async () => {
    await start({ action: treacherous['action'] ?? '' });
    host.hooks.doAction('bad_moment');
    expect(status('action')).to.have.property('state', 'active');
    expect(status('action')?.lastError?.message).to.include('broken in an action');
    await expectSiteUp();
  });

  it('in a route, whose caller learns nothing of it', async () => {
    await start({ route: treacherous['route'] ?? '' });
    const response = await host.fetch('/wp-json/route/v1/bad');
    const body = await response.text();
    expect(response.status).to.equal(500);
    expect(JSON.parse(body)).to.include({ code: 'rest_internal_error' });
    expect(body).not.to.include('broken in a route').and.not.to.include(directory);
    expect(host.logged.join('')).to.include('broken in a route');
    expect(status('route')?.lastError?.message).to.include('broken in a route');
    await expectSiteUp();
  });

  it('in a job, whose error is stored in the history', async () => {
    await start({ job: treacherous['job'] ?? '' });
    await host.cron.runDue();
    expect((await host.cron.history({ hook: 'bad_job' }))[0]).to.include({
      outcome: 'failed',
      error: 'job: broken in a job',
    });
    expect(status('job')?.lastError?.message).to.include('broken in a job');
    await expectSiteUp();
  });

  it('before an administrator looks, who sees stage and reason on the plugins page', async () => {
    await start({ register: broken['register'] ?? '' });
    const { stdout } = { stdout: (await host.cli('plugin', 'list')).out };
    expect(stdout).to.match(/register\s+1\.0\.0\s+failed\s+register: broken at register/);
  });

  it('in a badge, a page, a template, metrics or a route, and is named in each line of the log', async () => {
    await start({
      'many-faults': `
const fail = (what) => { throw new Error('broken in ' + what); };
export default { register(host) {
  host.admin.addBadge(async () => fail('a badge'));
  host.admin.addPage({ slug: 'many', title: 'Many', icon: 'cart', render: async () => fail('a page'), actions: { go: async () => fail('an action') } });
  host.admin.addPage({ slug: 'lost', title: 'Lost', icon: 'many-faults/icons.svg#cart', render: async () => ({ template: 'many-faults/missing' }) });
  host.metrics.add(() => fail('metrics'));
  host.metrics.add(() => [{ name: 'many-faults_total', type: 'counter', help: 'x', samples: [{ value: 1 }] },
    { name: 'many_faults_total', type: 'counter', help: 'x', samples: [{ value: 2 }] }]);
  host.metrics.add(() => '# TYPE many-faults_text gauge\\nmany-faults_text 1\\nmany_faults_text{a="b-c"} 3\\n');
  host.rest.registerRoute('many/v1', '/text', { permission: () => true, handler: () => { throw 'a text'; } });
  host.rest.registerRoute('wp/v2', '/posts', { permission: () => true, handler: () => 'late' });
  host.rest.registerRoute('wp/v2', '/users', { permission: () => true, override: true, handler: () => [] });
} };`,
    });
    const browser = await signIn(host);
    await browser.get('many');
    await browser.get('lost');
    await host.fetch('/wp-json/many/v1/text');
    const metrics = await (await host.fetch('/metrics')).text();
    expect(metrics.split('\n').filter((line) => /many.faults/.test(line) && !line.startsWith('#'))).to.deep.equal([
      'many_faults_total 2',
      'many_faults_text{a="b-c"} 3',
    ]);
    const lines = host.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    const owners = (event: string): unknown[] => [
      ...new Set(lines.filter((line) => line['event'] === event).map(({ plugin }) => plugin)),
    ];
    for (const event of ['admin_badge_failed', 'admin_page_failed', 'plugin_metrics_failed', 'rest_request_failed'])
      expect(owners(event), event).to.deep.equal(['many-faults']);
    const lost = lines.filter(({ event }) => event === 'admin_page_failed').at(-1);
    expect(lost?.['page']).to.equal('lost');
    expect(JSON.stringify(lost)).to.include(join(await realpath(directory), 'many-faults', 'views', 'missing.hbs'));
    const [icon, file, second, replaced, ...names] = status('many-faults')?.warnings ?? [];
    expect(icon).to.match(/^The icon 'cart' of the page 'many' does not exist\. Choose one of: .*gear/);
    expect(file).to.match(/^The icon 'many-faults\/icons\.svg#cart' of the page 'lost' does not exist\./);
    expect([second, replaced]).to.deep.equal([
      "Its route GET /wp/v2/posts is never reached: the host registered it before. Choose another path, or set 'override'.",
      'It replaces the route GET /wp/v2/users of the host.',
    ]);
    expect(names.map((text) => /^The metric '(.*)' is left out/.exec(text)?.[1])).to.have.members([
      'many-faults_total',
      'many-faults_text',
    ]);
    expect(await browser.get('plugins')).to.include('It replaces the route GET /wp/v2/users of the host.');
    await expectSiteUp();
  });
});
