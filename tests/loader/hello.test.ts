import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RestDispatchInit } from '#plugin-api';
import { createTestHost } from '#testing';
import { createTranslations } from '../../host/translations.ts';
import { createPostgresDatabase } from '../helpers/postgres.ts';
import { checkout } from '../helpers/running-site.ts';
import { signIn } from '../helpers/sign-in.ts';
import { silentLog } from '../helpers/silent-log.ts';

describe('the example plugin hello', () => {
  it('greets through its route, its filter and its action, and is gone when it is deactivated', async () => {
    const host = await createTestHost({ plugins: ['hello'] });
    try {
      const greeted: string[] = [];
      host.hooks.addAction('hello_greeted', (name: string) => void greeted.push(name));
      host.hooks.addFilter('hello_greeting', (text: string) => text.toUpperCase(), 20);
      const answer = await host.fetch('/wp-json/hello/v1/greet/Ada');
      expect([answer.status, await answer.json()]).to.deep.equal([200, { hello: 'HELLO, ADA!' }]);
      expect(greeted).to.deep.equal(['Ada']);
      const refused = await host.fetch('/wp-json/hello/v1/greet/nobody');
      expect([refused.status, ((await refused.json()) as { code: string }).code]).to.deep.equal([400, 'hello_nobody']);
      await host.plugins.deactivate('hello');
      expect((await host.fetch('/wp-json/hello/v1/greet/Ada')).status).to.equal(404);
      await host.plugins.activate('hello');
      expect((await host.fetch('/wp-json/hello/v1/greet/Ada')).status).to.equal(200);
    } finally {
      await host.stop();
    }
  });
});

describe('the example plugin orders', () => {
  it('passes its own tests', async () => {
    const file = join(checkout, 'plugins', 'orders', 'tests', 'orders.test.ts');
    const register = join(checkout, 'host', 'testing', 'register.js');
    const { NODE_TEST_CONTEXT: _unused, ...env } = process.env;
    const child = spawn(process.execPath, ['--import', register, '--test', file], {
      env: { ...env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, printed).to.equal(0);
    expect(printed).to.match(/pass 4\b/);
  });

  it('has the texts of its code in a language that does not exist', () => {
    const translations = createTranslations({ log: silentLog });
    translations.addSource('orders', join(checkout, 'plugins', 'orders', 'languages'));
    translations.setLocale('no locale');
    expect(translations.forPlugin('orders')._n('{count} order', '{count} orders', { count: 2 })).to.equal('2 orders');
  });

  it('shows its page in the language of the site, and keeps its key', async () => {
    const host = await createTestHost({ plugins: ['orders'] });
    try {
      const { get, post } = await signIn(host);
      expect(await get('orders')).to.include('No orders yet');
      expect(await get('orders/settings')).to.include('Address of the warehouse');
      for (const locale of ['de_DE', 'de_DE_formal', 'de']) {
        await host.options.update('WPLANG', locale);
        expect(await get('orders'), locale).to.include('Noch keine Bestellungen');
      }
      const save = async (fields: Readonly<Record<string, string>>) =>
        (await post('orders/settings', 'save', fields)).text;
      const stored = () => host.options.get('orders_settings');
      const refused = await save({ address: 'warehouse', key: 'secret-1234' });
      expect(refused).to.include('Address of the warehouse').and.not.include('secret-1234');
      await save({ address: 'https://warehouse.example', key: 'secret-1234' });
      await save({ address: 'https://warehouse.example/orders', key: '' });
      expect(await stored()).to.deep.equal({ address: 'https://warehouse.example/orders', key: 'secret-1234' });
      expect(await save({ address: 'https://other.example', key: '' })).to.include(
        'führt jetzt zu einem anderen Server',
      );
      expect(await stored(), 'nothing is saved').to.deep.include({ key: 'secret-1234' });
      await save({ address: 'https://other.example', key: 'secret-5678' });
      expect(await stored()).to.deep.equal({ address: 'https://other.example', key: 'secret-5678' });
    } finally {
      await host.stop();
    }
  });

  for (const dialect of ['SQLite', 'PostgreSQL'])
    it(`keeps orders and key when version 1.0.0 is updated, on ${dialect}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'svc-orders-'));
      const postgres = dialect === 'SQLite' ? null : await createPostgresDatabase();
      const host = await createTestHost({
        ...{ plugins: 'found', pluginDirs: [folder] },
        ...(postgres && { database: postgres.url }),
      });
      try {
        const former = join(checkout, 'tests', 'fixtures', 'plugins', 'orders-1.0.0.zip');
        await host.plugins.install({ path: former, activate: true });
        const { user, submit } = await host.signIn();
        const send = async (init: RestDispatchInit) =>
          (await host.rest.dispatch('/orders/v1/orders', { ...init, user })).body;
        const order = await send({ method: 'POST', json: { customer: 'Ada', total: 1250 } });
        const settings = { address: 'https://warehouse.example', key: 'secret-1234' };
        await submit('orders', 'save', settings);
        const updated = await host.plugins.install({ path: join(checkout, 'plugins', 'orders') });
        expect(updated).to.include({ slug: 'orders', replaced: '1.0.0' });
        expect(await send({})).to.deep.equal([{ ...(order as object), sent_at: null }]);
        expect(await host.options.get('orders_settings')).to.deep.equal(settings);
      } finally {
        await host.stop();
        await postgres?.drop();
        await rm(folder, { recursive: true, force: true });
      }
    });
});
