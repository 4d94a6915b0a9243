import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost } from '#testing';
import { createTranslations } from '../../host/translations.ts';
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
      expect(await get('orders'))
        .to.include('No orders yet')
        .and.include('Address of the warehouse');
      for (const locale of ['de_DE', 'de_DE_formal', 'de']) {
        await host.options.update('WPLANG', locale);
        expect(await get('orders'), locale).to.include('Noch keine Bestellungen');
      }
      const save = async (fields: Readonly<Record<string, string>>) => (await post('orders', 'save', fields)).text;
      const stored = () => host.options.get('orders_settings');
      const refused = await save({ address: 'warehouse', key: 'secret-1234' });
      expect(refused).to.include('Address of the warehouse').and.not.include('secret-1234');
      await save({ address: 'https://warehouse.example', key: 'secret-1234' });
      await save({ address: 'https://warehouse.example/orders', key: '' });
      expect(await stored()).to.deep.equal({ address: 'https://warehouse.example/orders', key: 'secret-1234' });
      await save({ address: 'https://other.example', key: '' });
      expect(await stored(), 'the key stays with its host').to.deep.equal({ address: 'https://other.example' });
    } finally {
      await host.stop();
    }
  });
});
