import { expect } from 'chai';
import { createTestHost, type SignedIn, type TestHost } from '#testing';

/** The example `orders`, whose settings are one call of `addSettingsPage`. */
describe('a page of settings from a schema', () => {
  const address = 'https://warehouse.example.com/orders';
  let host: TestHost;
  let admin: SignedIn;
  before(async () => {
    host = await createTestHost({ plugins: ['orders'] });
    admin = await host.signIn();
  });
  after(() => host.stop());

  const save = (form: Record<string, string>) => admin.submit('orders/settings', 'save', form);
  const stored = () => host.options.get('orders_settings', {});

  it('has its own entry in the menu, shows defaults, and is for administrators', async () => {
    const { status, text } = await admin.open('orders/settings');
    expect(status).to.equal(200);
    expect(text).to.match(/<a [^>]*href="[^"]*\/admin\/orders\/settings"/);
    expect(text).to.contain('Address of the warehouse').and.contain('Not set');
    expect((await (await host.signIn('editor')).open('orders/settings')).status).to.equal(403);
  });

  it('stores what it reads, keeps an empty secret, and never shows it', async () => {
    expect((await save({ address, key: 'secret-1234' })).text).to.contain('Settings saved');
    const { text } = await save({ address: `${address}/new`, key: '' });
    expect(text).to.contain('Settings saved').and.contain('1234').and.not.contain('secret-1234');
    expect(await stored()).to.deep.equal({ address: `${address}/new`, key: 'secret-1234' });
    const [row] = (await host.database.knex('options').where({ name: 'orders_settings' })) as { value: string }[];
    expect(row?.value).not.to.contain('secret-1234');
  });

  it('refuses what the schema does not allow, and shows what was entered', async () => {
    const { text } = await save({ address: 'no address', key: '' });
    expect(text).to.contain('Correct the marked fields').and.contain('no address').and.contain('aria-invalid="true"');
    expect(await stored()).to.deep.equal({ address: `${address}/new`, key: 'secret-1234' });
  });

  it('sends a secret to no other server that an administrator names without knowing it', async () => {
    for (const other of ['https://attacker.example.com/', 'http://warehouse.example.com/orders', '']) {
      expect((await save({ address: other, key: '' })).text, other).to.contain('leads to another server now');
      expect(await stored()).to.include({ key: 'secret-1234' });
    }
    await save({ address: 'https://attacker.example.com/', '_remove[]': 'key' });
    expect(await stored()).to.deep.equal({ address: 'https://attacker.example.com/' });
    await save({ address, key: 'secret-5678' });
    expect(await stored()).to.deep.equal({ address, key: 'secret-5678' });
  });
});
