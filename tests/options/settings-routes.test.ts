import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { readRecording } from '../oracle/replay.ts';
import { openSite, type Call, type RoutesSite } from '../users/routes-site.ts';

describeHosts('/wp/v2/settings', (dialectCase) => {
  let site: RoutesSite;
  let asAdmin: Call;
  beforeEach(async () => {
    site = await openSite(dialectCase);
    asAdmin = await site.as(await site.create({ login: 'admin', role: 'administrator' }));
  });
  afterEach(() => site.host.stop());

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
describeHosts('answers about the user and settings recorded from WordPress', (dialectCase) => {
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
      const site = await openSite(dialectCase);
      try {
        const call = await site.as(
          await site.create({ login: 'admin', email: 'a@example.test', role: 'administrator' }),
        );
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
          expect(headers.get(name), name).to.equal(value.replaceAll('{site}', site.host.url));
        const { message, ...rest } = given as Record<string, unknown>;
        const { message: recordedMessage, ...recorded } = answer.body;
        expect(comparable(rest)).to.deep.equal(comparable(recorded));
        // The sentence names the bad parameters, of which this host has fewer.
        if (recordedMessage !== undefined) expect(String(recordedMessage).startsWith(String(message))).to.equal(true);
      } finally {
        await site.host.stop();
      }
    });
  }
});
