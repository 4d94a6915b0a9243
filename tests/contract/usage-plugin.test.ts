import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import type { Explanation } from '../../plugins/svc/kit/dry-run.ts';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const restKey = 'the REST key of these tests';
const model = 'gpt-5.6-terra';

/** A plugin as a third party writes it, which calls the service by an ability and by a route inside the process. */
const shop = `
const call = { provider: 'openai', model: '${model}' };
export default { register(host) {
  host.rest.registerRoute('shop/v1', '/describe', {
    methods: ['POST'],
    permission: () => true,
    handler: async ({ user, query }) => {
      const viaAbility = query.by === 'ability';
      if (viaAbility) return host.abilities.run('svc/generate-text', { ...call, prompt: 'Hello' }, { user });
      const { status, body } = await host.rest.dispatch('/svc/v1/generate' + (query.dry ? '?dry_run=1' : ''), {
        method: 'POST',
        user,
        json: { ...call, messages: [{ role: 'user', content: 'Hello' }], svc_api_key: '${restKey}' },
      });
      return { status, body };
    },
  });
} };
`;

describeHosts('usage of another plugin', ({ location, directory }) => {
  let host: TestHost;
  let upstream: Upstream;
  let authorization = '';
  let userId = 0;
  beforeEach(async function () {
    this.timeout(60_000);
    const folder = join(directory(), 'plugins');
    mkdirSync(join(folder, 'shop'), { recursive: true });
    const manifest = { slug: 'shop', name: 'Shop', version: '1.0.0', main: 'index.mjs', host: '^1' };
    writeFileSync(join(folder, 'shop', 'plugin.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'shop', 'index.mjs'), shop);
    const { databaseUrl, dataDir } = location();
    upstream = await startUpstream();
    host = await createTestHost({
      plugins: ['svc', 'sandbox', 'shop'],
      pluginDirs: [folder, join(import.meta.dirname, '../../plugins')],
      database: databaseUrl ?? dataDir,
    });
    host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
      id === 'openai' ? { ...settings, api_key: 'sk-upstream', base_url: upstream.url } : settings,
    );
    await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
    await host.options.update('svc_prices', [{ provider: 'openai', model, input: 1000, output: 3000 }]);
    const email = 'root@example.com';
    const root = await host.users.create({
      login: 'root',
      email,
      password: 'correct horse battery',
      role: 'administrator',
    });
    const { password } = await createApplicationPasswords(host).create(root.id, 'Tests');
    userId = root.id;
    authorization = `Basic ${Buffer.from(`root:${password}`).toString('base64')}`;
  });
  afterEach(async () => {
    await host.stop();
    await upstream.stop();
  });

  async function send<Body>(path: string, method = 'GET'): Promise<Body> {
    const response = await host.fetch(path, { method, headers: { authorization } });
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    return JSON.parse(text) as Body;
  }

  it('is recorded, summed up in REST, on the command line and in the metrics, and named by a dry run', async () => {
    await send('/wp-json/shop/v1/describe?by=ability', 'POST');
    expect(await send('/wp-json/shop/v1/describe', 'POST')).to.include({ status: 200 });
    const direct = await host.fetch('/wp-json/svc/v1/generate', {
      method: 'POST',
      headers: { authorization: `Bearer ${restKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'openai', model, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(direct.status, await direct.text()).to.equal(200);

    const byPlugin = await send<Record<string, unknown>[]>('/wp-json/svc-admin/v1/usage?by=plugin');
    expect(byPlugin.map(({ name, calls }) => [name, calls])).to.deep.equal([
      ['shop', 2],
      ['', 1],
    ]);
    const [{ cost_usd: cost }] = byPlugin as [{ cost_usd: number }];
    const rows = await host.database.knex('svc_usage').where({ plugin: 'shop' }).orderBy('id').select('*');
    expect(rows.map((row) => [row.module, Number(row.user_id)])).to.deep.equal([
      ['text', userId],
      ['rest', userId],
    ]);
    expect(cost).to.equal(rows.reduce((sum, row) => sum + Number(row.cost), 0) / 1_000_000);
    const byModule = await send<Record<string, unknown>[]>('/wp-json/svc-admin/v1/usage?by=module&plugin=shop');
    expect(byModule.map(({ name }) => name)).to.have.members(['text', 'rest']);
    const paged = await send<Record<string, unknown>[]>('/wp-json/svc-admin/v1/usage?by=user_id&per_page=1&page=2');
    expect(paged.map(({ name, calls }) => [name, calls])).to.deep.equal([['0', 1]]);

    const metrics = await (await host.fetch('/metrics')).text();
    expect(metrics).to.contain('svc_usage_calls_total{by="plugin",name="shop"} 2');
    expect(metrics).to.contain(`svc_usage_calls_total{by="user",name="${String(userId)}"} 2`);
    expect(metrics).to.contain(`svc_usage_cost_dollars_total{by="plugin",name="shop"} ${String(cost)}`);

    const { code, out } = await host.cli('svc', 'usage', '--by=plugin', '--json');
    expect([code, (JSON.parse(out) as { plugin: string }[]).map(({ plugin }) => plugin)]).to.deep.equal([
      0,
      ['shop', ''],
    ]);
    const dry = await send<{ readonly body: Explanation }>('/wp-json/shop/v1/describe?dry=1', 'POST');
    expect(dry.body).to.include({ allowed: true, plugin: 'shop', rule: 'key_rest' });
  });

  it('is summed up alike by user, key, plugin, module and chatbot in REST, on the page, as CSV and in the metrics', async () => {
    const print = async <Printed>(...argv: string[]): Promise<Printed> => {
      const { code, out, err } = await host.cli('svc', ...argv);
      expect(code, err).to.equal(0);
      return JSON.parse(out) as Printed;
    };
    const bot = await print<{ id: number }>('bot', 'create', '--json', '{"name": "Helper", "provider": "openai"}');
    const key = await print<{ id: number; key: string }>('key', 'create', '--name=App', '--routes=chat', '--json');
    await send('/wp-json/shop/v1/describe', 'POST');
    const chat = await host.fetch(`/wp-json/svc/v1/chat/${String(bot.id)}/message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(chat.status, await chat.text()).to.equal(200);
    const signedIn = await host.fetch('/admin/login', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login: 'root', password: 'correct horse battery' }),
    });
    const cookie = signedIn.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; ');
    const root = await host.users.find('root');
    if (root === null) throw new Error('There is no user root.');
    const summed = (await host.abilities.run('svc/usage', {}, { user: root })) as { groups: object[] };
    expect(summed.groups[0]).to.include({ provider: 'openai', calls: 2 });
    const html = await (await host.fetch('/admin/svc/usage', { headers: { cookie } })).text();
    const page = html.replaceAll('&#x3D;', '=');
    const nonce = /name="_nonce" value="([^"]+)"/.exec(page.slice(page.indexOf('<main')))?.[1] ?? '';
    const metrics = await (await host.fetch('/metrics')).text();

    const expected = {
      user_id: String(userId),
      key_id: String(key.id),
      plugin: 'shop',
      module: 'chatbots',
      bot_id: String(bot.id),
    };
    for (const [by, name] of Object.entries(expected)) {
      const groups = await send<{ name: string; calls: number; cost_usd: number }[]>(
        `/wp-json/svc-admin/v1/usage?by=${by}`,
      );
      const group = groups.find((one) => one.name === name);
      expect(group?.calls, by).to.equal(1);
      const body = new URLSearchParams({ _nonce: nonce, by });
      const csv = await host.fetch('/admin/svc/usage?action=export', { method: 'POST', headers: { cookie }, body });
      const line = (await csv.text()).split('\r\n').find((one) => one.startsWith(`"${name}",`));
      expect(line, by).to.match(/^"[^"]+",1,0,/);
      expect(line, by).to.contain(`"${group?.cost_usd ?? 0}"`);
      expect(page).to.contain(`id="by-${by}"`).and.to.contain(`${by}=${name}`);
      expect(metrics).to.contain(`svc_usage_calls_total{by="${by.replace('_id', '')}",name="${name}"} 1`);
    }
  });

  it('is limited by a budget of the plugin, and of the role of the user', async () => {
    const setBudget = async (values: object): Promise<void> => {
      const { code, err } = await host.cli(
        'svc',
        'budget',
        'set',
        JSON.stringify({ id: 'one', name: 'One', ...values }),
      );
      expect(code, err).to.equal(0);
    };
    const describe = () =>
      send<{ readonly status: number; readonly body: object }>('/wp-json/shop/v1/describe', 'POST');
    const explain = () =>
      send<{ readonly body: Explanation }>('/wp-json/shop/v1/describe?dry=1', 'POST').then(({ body }) => body.rule);
    expect(await describe()).to.include({ status: 200 });
    await setBudget({ scope: 'plugin', plugin: 'shop', unit: 'calls', amount: 2 });
    expect([(await describe()).status, await explain(), (await describe()).status]).to.deep.equal([
      200,
      'budget_plugin',
      429,
    ]);
    await setBudget({ scope: 'role', role: 'administrator', unit: 'calls', amount: 3 });
    expect([(await describe()).status, await explain(), (await describe()).status]).to.deep.equal([
      200,
      'budget_role',
      429,
    ]);
    const refused = await host.cli(
      'svc',
      'budget',
      'set',
      '{"id": "one", "name": "One", "amount": 1, "scope": "role"}',
    );
    expect([refused.code, refused.err]).to.satisfy(([, err]: [number, string]) => err.includes('Choose the role'));
    const unknown = await host.cli(
      ...['svc', 'budget', 'set', '{"id": "one", "name": "One", "amount": 1, "scope": "role", "role": "editors"}'],
    );
    expect(unknown.err).to.include('No role has the name editors. The roles are administrator, editor');
  });

  it('is shown to administrators alone', async () => {
    const response = await host.fetch('/wp-json/svc-admin/v1/usage?by=plugin');
    expect(response.status).to.equal(401);
  });
});
