import { expect } from 'chai';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { readRecording } from '../oracle/replay.ts';
import { openSite, type Call, type RoutesSite } from '../users/routes-site.ts';

describeSharedHosts('/wp/v2/settings', (dialectCase) => {
  const shared = shareSite(() => openSite(dialectCase));
  let site: RoutesSite;
  let asAdmin: Call;
  beforeEach(async () => {
    site = shared();
    asAdmin = await site.as(await site.create({ login: 'admin', role: 'administrator' }));
  });

  const post = (json: object): ReturnType<Call> => asAdmin('/wp/v2/settings', { method: 'POST', json });

  it('is for those who may manage options', async () => {
    const asBob = await site.as(await site.create({ login: 'bob', role: 'editor' }));
    expect([(await site.call('/wp/v2/settings')).status, (await asBob('/wp/v2/settings')).status]).to.deep.equal([
      401, 403,
    ]);
    expect((await asBob('/wp/v2/settings', { method: 'POST', json: { title: 'x' } })).body.code).to.equal(
      'rest_forbidden',
    );
  });

  it('shows and changes what is registered to be shown, in its JSON type', async () => {
    const { status, headers, body } = await asAdmin('/wp/v2/settings');
    expect([status, body.title, headers.get('allow')]).to.deep.equal([200, 'My site', 'GET, POST, PUT, PATCH']);
    expect(body).not.to.have.property('rest_allowed_origins');
    expect((await post({ title: 'Oracle' })).body).to.include({ title: 'Oracle', description: body.description });
    expect(await site.host.options.get('blogname')).to.equal('Oracle');
    expect((await post({ title: null })).body.title).to.equal('My site');
  });

  it('takes up what plugins register and take back, secrets for writing alone', async () => {
    const undo = site.host.options.registerSetting('shop_size', {
      group: 'shop',
      showInRest: true,
      schema: { type: 'integer', minimum: 1, default: 3 },
    });
    site.host.options.registerSetting('shop_key', {
      group: 'shop',
      showInRest: 'shop_secret',
      schema: { type: 'string', writeOnly: true },
    });
    expect((await asAdmin('/wp/v2/settings')).body)
      .to.include({ shop_size: 3 })
      .and.not.to.have.property('shop_secret');
    expect((await post({ shop_size: '7', shop_secret: 'abc' })).body)
      .to.include({ shop_size: 7 })
      .and.not.to.have.property('shop_secret');
    expect(await site.host.options.get('shop_key')).to.equal('abc');
    expect((await post({ shop_size: 0 })).body.data.params).to.deep.equal({
      shop_size: 'shop_size must be greater than or equal to 1',
    });
    undo();
    expect((await asAdmin('/wp/v2/settings')).body).not.to.have.property('shop_size');
  });

  it('encrypts secrets wherever a schema has them and never returns them', async () => {
    const { options, database } = site.host;
    const secret = { type: 'string', writeOnly: true } as const;
    options.registerSetting('shop_account', {
      group: 'shop',
      showInRest: true,
      schema: {
        type: 'object',
        properties: {
          url: { type: 'string', format: 'uri' },
          key: secret,
          pin: { type: 'integer', writeOnly: true },
          mail: { type: 'object', properties: { user: { type: 'string' }, password: secret } },
          stores: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' }, key: secret } } },
          more: { type: 'object', additionalProperties: secret },
          way: { oneOf: [{ type: 'object', properties: { token: secret } }, { type: 'string' }] },
        },
      },
    });
    const account = {
      url: 'https://one.test',
      key: 'plain-key-1',
      pin: 918273645,
      mail: { user: 'ann', password: 'plain-key-2' },
      stores: [{ id: 'a', key: 'plain-key-3' }],
      more: { any: 'plain-key-4' },
      way: { token: 'plain-key-5' },
    };
    const shown = { url: account.url, mail: { user: 'ann' }, stores: [{ id: 'a' }], more: {}, way: {} };
    expect((await post({ shop_account: account })).body.shop_account).to.deep.equal(shown);
    expect((await asAdmin('/wp/v2/settings')).body.shop_account).to.deep.equal(shown);
    const stored = (): Promise<string> =>
      database
        .knex('options')
        .where('name', 'shop_account')
        .first('value')
        .then((row: { readonly value: string }) => row.value);
    expect(await stored()).not.to.match(/plain-key|918273645/);
    expect((await stored()).match(/enc:v2:/g)).to.have.length(6);
    expect(await options.get('shop_account')).to.deep.equal(account);
    expect(await options.update('shop_account', account)).to.equal(false);
    expect(await options.compareAndSet('shop_account', account, { ...account, key: 'plain-key-6' })).to.equal(true);
    expect(await stored()).not.to.include('plain-key');

    const changed = { url: account.url, mail: { user: 'bob' } };
    await post({ shop_account: changed });
    expect(await options.get('shop_account'), 'what a caller cannot see is kept').to.deep.equal({
      url: account.url,
      mail: { user: 'bob', password: 'plain-key-2' },
      key: 'plain-key-6',
      pin: 918273645,
    });
    await post({ shop_account: { url: 'https://two.test', mail: { user: 'bob' } } });
    expect(await options.get('shop_account'), 'secrets do not move to another address').to.deep.equal({
      url: 'https://two.test',
      mail: { user: 'bob', password: 'plain-key-2' },
    });
  });

  it('refuses a time zone that does not exist', async () => {
    const { status, body } = await post({ timezone: 'Europe/Atlantis' });
    expect([status, body.code]).to.deep.equal([400, 'rest_invalid_param']);
    expect((await post({ timezone: 'Europe/Berlin' })).body.timezone).to.equal('Europe/Berlin');
  });
});

interface Recorded {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Readonly<Record<string, unknown>>;
  };
}

/** Recorded from a WordPress with many more settings: compared are those that this host has too. */
describeSharedHosts('answers about the user and settings recorded from WordPress', (dialectCase) => {
  const site = shareSite(async () => {
    const opened = await openSite(dialectCase);
    const admin = await opened.create({ login: 'admin', email: 'a@example.test', role: 'administrator' });
    return { ...opened, admin };
  });
  const rows = (JSON.parse(readRecording('rest.json.gz')) as Recorded[]).filter(({ path }) =>
    path.startsWith('/wp-json/wp/v2/'),
  );
  const ours = ['title', 'description', 'timezone'];

  function comparable(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !(name in anywhere) || ours.includes(name))
        .map(([name, member]) => [name, comparable(member)]),
    );
  }
  const anywhere = Object.fromEntries(
    rows
      .flatMap(({ id, answer }) => (id === 'auth.app.settings.post' ? Object.keys(answer.body) : []))
      .map((name) => [name, true]),
  );

  for (const { id, method, path, body, answer } of rows) {
    it(`are matched: ${method} ${path} (${id})`, async () => {
      const call = await site().as(site().admin);
      const {
        status,
        headers,
        body: given,
      } = await call(path.replace('/wp-json', ''), {
        method,
        ...(body !== null && { json: JSON.parse(body) as unknown }),
      });
      expect(status).to.equal(answer.status);
      for (const [name, value] of Object.entries(answer.headers))
        expect(headers.get(name), name).to.equal(value.replaceAll('{site}', site().host.url));
      const { message, ...rest } = given as Record<string, unknown>;
      const { message: recordedMessage, ...recorded } = answer.body;
      expect(comparable(rest)).to.deep.equal(comparable(recorded));
      // The sentence names the bad parameters, of which this host has fewer.
      if (recordedMessage !== undefined) expect(String(recordedMessage).startsWith(String(message))).to.equal(true);
    });
  }
});
