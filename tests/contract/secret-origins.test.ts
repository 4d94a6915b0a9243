import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { describeHosts, describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openReceiver, type Receiver } from '../svc/webhooks/delivery/open-receiver.ts';
import { signIn, type Browser } from '../helpers/sign-in.ts';

const secret = 'sk-bound-to-its-origin-0123456789';

describeSharedHosts('secrets and the origin they were entered for', ({ location }) => {
  let host: TestHost;
  let first: Receiver;
  let second: Receiver;
  let admin: Browser;

  const shared = shareSite(async () => {
    const { databaseUrl, dataDir } = location();
    return { host: await createTestHost({ plugins: ['svc'], database: databaseUrl ?? dataDir }) };
  });
  beforeEach(async function () {
    this.timeout(30_000);
    ({ host } = shared());
    [first, second] = [await openReceiver(), await openReceiver()];
    for (const receiver of [first, second])
      receiver.answer = (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"data":[],"models":[],"indexes":[],"result":{"collections":[]}}');
    admin = await signIn(host);
  });
  afterEach(async () => {
    for (const receiver of [first, second]) await receiver.close();
  });

  const urlOf = ({ port }: Receiver, path = ''): string => `http://127.0.0.1:${String(port)}${path}`;
  const sent = ({ received }: Receiver): string => JSON.stringify(received.map(({ headers, path }) => [path, headers]));
  const cli = async (...argv: string[]): Promise<string> => {
    const { code, out, err } = await host.cli(...argv);
    return code === 0 ? out : out + err;
  };

  for (const id of ['openai', 'claude', 'google', 'azure']) {
    it(`keeps the key of ${id} from another origin, from the page and from the command line`, async function () {
      this.timeout(30_000);
      await cli('svc', 'provider', 'set', id, `--api-key=${secret}`, `--base-url=${urlOf(first)}`, '--model=m');
      await cli('svc', 'provider', 'test', id);
      expect(sent(first)).to.include(secret);

      // Another path of the same origin keeps it.
      await cli('svc', 'provider', 'set', id, `--base-url=${urlOf(first, '/other')}`);
      expect(await cli('svc', 'provider', 'list')).to.include('ends in 6789');

      const page = await admin.post('svc', 'test-provider', {
        provider: id,
        'settings[base_url]': urlOf(second),
        'settings[model]': 'm',
        'settings[api_key]': '',
      });
      expect(page.text).to.include('leads to another origin').and.to.include('Enter it again');
      expect(page.text).not.to.include(secret);
      expect(await cli('svc', 'provider', 'test', id)).to.include('API key');
      expect(second.received).to.deep.equal([]);
      // Going back does not bring it back.
      await cli('svc', 'provider', 'set', id, `--base-url=${urlOf(first)}`);
      expect(await cli('svc', 'provider', 'list')).not.to.include('ends in 6789');
    });
  }

  it('says on the command line that the key was removed', async () => {
    await cli('svc', 'provider', 'set', 'openai', `--api-key=${secret}`, `--base-url=${urlOf(first)}`);
    expect(await cli('svc', 'provider', 'set', 'openai', `--base-url=${urlOf(second)}`)).to.match(
      /leads to another origin, so the saved value of API key was removed\. Enter it again\./,
    );
    expect(
      await cli('svc', 'provider', 'set', 'openai', `--base-url=${urlOf(first)}`, `--api-key=${secret}`),
    ).not.to.include('another origin');
  });

  it('does not use a key whose address was changed past the settings, or that was moved to another option', async () => {
    await cli('svc', 'provider', 'set', 'openai', `--api-key=${secret}`, `--base-url=${urlOf(first)}`);
    const saved = await host.options.get<Record<string, unknown>>('svc_provider_openai');
    await host.options.update('svc_provider_openai', { ...saved, base_url: urlOf(second) });
    await host.options.update('svc_provider_xai', { ...saved });
    for (const id of ['openai', 'xai']) expect(await cli('svc', 'provider', 'test', id)).to.include('API key');
    expect(sent(first) + sent(second)).not.to.include(secret);
    const lines = host.logged.filter((line) => line.includes('secret_unreadable'));
    expect(lines.join('\n'))
      .to.include('saved for another setting or another address')
      .and.to.include('svc_provider_xai');
  });

  for (const id of ['qdrant', 'chroma', 'pinecone']) {
    it(`keeps the key of ${id} from another origin`, async function () {
      this.timeout(30_000);
      await cli('svc', 'vector-store', 'set', id, `--api-key=${secret}`, `--url=${urlOf(first)}`);
      await cli('svc', 'vector-store', 'test', id);
      expect(sent(first)).to.include(secret);
      const page = await admin.post('svc/vector-stores', 'test-store', {
        store: id,
        'settings[url]': urlOf(second),
        'settings[api_key]': '',
      });
      expect(page.text).to.include('leads to another origin');
      await cli('svc', 'vector-store', 'test', id);
      expect(sent(second)).not.to.include(secret);
    });
  }

  it('counts the port of Qdrant that has a field of its own', async () => {
    await cli('svc', 'vector-store', 'set', 'qdrant', `--api-key=${secret}`, '--url=http://127.0.0.1', '--port=6333');
    expect(await cli('svc', 'vector-store', 'set', 'qdrant', `--port=${String(second.port)}`)).to.include(
      'another origin',
    );
    await cli('svc', 'vector-store', 'test', 'qdrant');
    expect(sent(second)).not.to.include(secret);
  });

  it('keeps headers and signing secret of a webhook from another origin', async () => {
    await cli('svc', 'webhook', 'on');
    const added = JSON.parse(
      await cli(
        'svc',
        'webhook',
        'add',
        '--json',
        JSON.stringify({
          name: 'shop',
          url: urlOf(first, '/hook'),
          events: ['chatbot.session_started'],
          secret,
          headers: { 'X-Api-Key': secret, 'X-Plain': secret },
        }),
      ),
    ) as { id: string };
    await cli('svc', 'webhook', 'test', added.id);
    expect(first.received[0]?.headers).to.include({ 'x-api-key': secret, 'x-plain': secret });
    expect(first.received[0]?.headers).to.have.property('x-svc-signature');
    expect(await cli('svc', 'webhook', 'list')).not.to.include(secret);

    await cli('svc', 'webhook', 'update', '--json', JSON.stringify({ id: added.id, url: urlOf(first, '/other') }));
    await cli('svc', 'webhook', 'test', added.id);
    expect(first.received[1]?.headers).to.include({ 'x-api-key': secret });

    const moved = await cli(
      'svc',
      'webhook',
      'update',
      '--json',
      JSON.stringify({ id: added.id, url: urlOf(second, '/hook') }),
    );
    expect(moved).to.include('another origin').and.to.include('the signing secret, X-Api-Key, X-Plain');
    await cli('svc', 'webhook', 'test', added.id);
    expect(second.received[0]?.headers).not.to.have.any.keys('x-api-key', 'x-plain', 'x-svc-signature');

    await cli('svc', 'webhook', 'update', '--json', JSON.stringify({ id: added.id, headers: { 'X-Api-Key': secret } }));
    const again = await host.options.get<{ endpoints: { url: string }[] }>('svc_webhooks');
    await host.options.update('svc_webhooks', {
      ...again,
      endpoints: again.endpoints.map((endpoint) => ({ ...endpoint, url: urlOf(first, '/stolen') })),
    });
    expect(await cli('svc', 'webhook', 'test', added.id)).to.include('The header X-Api-Key is set but cannot be read');
    expect(sent(first)).not.to.include('/stolen');
  });

  it('asks no more for the secrets of an endpoint that gets its first URL', async () => {
    const added = JSON.parse(
      await cli(
        'svc',
        'webhook',
        'add',
        '--json',
        JSON.stringify({ name: 'later', events: ['chatbot.session_started'], headers: { 'X-Api-Key': secret } }),
      ),
    ) as { id: string };
    await cli('svc', 'webhook', 'on');
    await cli('svc', 'webhook', 'update', '--json', JSON.stringify({ id: added.id, url: urlOf(first) }));
    await cli('svc', 'webhook', 'test', added.id);
    expect(first.received[0]?.headers).to.include({ 'x-api-key': secret });
  });
});

describeHosts('secrets of an earlier version', ({ location }) => {
  it('are bound to their place when the site starts, and stay readable', async function () {
    this.timeout(30_000);
    const { databaseUrl, dataDir } = location();
    const database = databaseUrl ?? dataDir;
    const before = await createTestHost({ plugins: [], database });
    const old = before.secrets.encrypt(secret);
    await before.options.update('svc_api_key', old);
    await before.options.update('svc_provider_openai', { api_key: old, model: 'm' });
    await before.options.update('svc_vector_store_qdrant', { api_key: old, url: 'http://127.0.0.1:1' });
    await before.options.update('svc_webhooks', {
      enabled: true,
      secret: old,
      previous: { secret: old, until: 9e15 },
      deliveredDays: 3,
      endpoints: [
        {
          id: 'e1',
          name: 'shop',
          url: 'http://127.0.0.1:1/hook',
          enabled: true,
          events: [],
          internal: false,
          secret: old,
          headers: { 'X-Api-Key': old },
          standardWebhooks: false,
          redirects: 2,
          longTail: false,
          ordered: false,
        },
      ],
      removed: {},
    });
    await before.stop();
    const after = await createTestHost({ plugins: ['svc'], database });
    try {
      for (const name of ['svc_api_key', 'svc_provider_openai', 'svc_vector_store_qdrant', 'svc_webhooks'])
        expect(JSON.stringify(await after.options.get(name)), name)
          .to.include('enc:v2:')
          .and.not.include('enc:v1:');
      const shown = [
        await after.cli('svc', 'provider', 'list'),
        await after.cli('svc', 'vector-store', 'list'),
        await after.cli('svc', 'webhook', 'list'),
      ];
      for (const { out } of shown) expect(out).to.include('ends in 6789');
      const response = await after.fetch('/wp-json/svc/v1/generate', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
        body: '{}',
      });
      expect(response.status).to.equal(400);
    } finally {
      await after.stop();
    }
  });
});
