import { expect } from 'chai';
import { signIn } from '../helpers/sign-in.ts';
import { goodRequest, restKey, startService, type Service } from './service.ts';

interface PrintedKey {
  readonly id: number;
  readonly key: string;
  readonly state: string;
}

describe('named keys over HTTP', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  /** Runs a command with flags, and arguments before them. */
  async function run<Printed = PrintedKey>(
    command: string,
    flags: Readonly<Record<string, string | number>> = {},
    ...args: readonly number[]
  ): Promise<Printed> {
    const written = Object.entries(flags).map(([name, value]) => `--${name}=${String(value)}`);
    const { code, out, err } = await service.host.cli(...command.split(' '), ...args.map(String), ...written, '--json');
    expect(code, err).to.equal(0);
    return JSON.parse(out) as Printed;
  }

  const as = (key: string) => ({ authorization: `Bearer ${key}` });

  it('are accepted like the REST key, as a header or as a parameter', async () => {
    const { key } = await run('svc key create', { name: 'Shop', routes: 'generate' });
    expect((await service.generate(goodRequest, as(key))).status).to.equal(200);
    expect((await service.generate({ ...goodRequest, svc_api_key: key }, {})).status).to.equal(200);
    expect((await service.generate(goodRequest, {}, `?svc_api_key=${key}`)).status).to.equal(200);
    expect((await service.generate(goodRequest, as(restKey))).status).to.equal(200);
    const padded = { ...goodRequest, padding: 'x'.repeat(1_100_000) };
    expect((await service.generate(padded, as(key))).status).to.equal(413);
  });

  it('work without a REST key', async () => {
    const { key } = await run('svc key create', { name: 'Shop', routes: 'generate' });
    await service.saveRestKey('');
    expect((await service.generate(goodRequest, as(key))).status).to.equal(200);
    expect((await service.generate(goodRequest, as(`${key}x`))).body).to.deep.equal({
      code: 'rest_svc_invalid_api_key',
      message: 'Invalid or missing API Key.',
      data: { status: 401 },
    });
    await service.saveRestKey(restKey);
  });

  const lacking = [
    ['routes', { routes: 'chat,logs' }, 'generate'],
    ['providers', { routes: 'generate', providers: 'claude,google' }, 'openai'],
    ['models', { routes: 'generate', models: 'gpt-5*,gpt-4o' }, 'gpt-4o-mini'],
  ] as const;
  for (const [scope, flags, needs] of lacking) {
    it(`are refused with 403 that names the lacking scope ${scope}, before the provider is called`, async () => {
      const { key } = await run('svc key create', { name: `Without ${needs}`, ...flags });
      const calls = service.upstream.requests.length;
      const { status, body } = await service.generate(goodRequest, as(key));
      expect([status, body.code, body.data]).to.deep.equal([
        403,
        'rest_svc_key_out_of_scope',
        { status: 403, scope, needs },
      ]);
      expect(body.message).to.contain(needs);
      expect(service.upstream.requests.length).to.equal(calls);
    });
  }

  it('may be limited to providers and models that fit', async () => {
    const { key } = await run('svc key create', {
      name: 'Fits',
      routes: 'generate',
      providers: 'openai',
      models: 'gpt-5*,gpt-4o*',
    });
    expect((await service.generate(goodRequest, as(key))).status).to.equal(200);
  });

  it('read the logs of their own chatbots alone', async () => {
    const bots: number[] = [];
    for (const name of ['Own', 'Other'])
      bots.push(
        JSON.parse((await service.host.cli('svc', 'bot', 'create', '--json', JSON.stringify({ name }))).out)
          .id as number,
      );
    const [own, other] = bots.map(String);
    const { key } = await run('svc key create', { name: 'Bots', routes: 'logs,chat', chatbots: own! });
    const logs = async (query: string): Promise<number> =>
      (await service.host.fetch(`/wp-json/svc/v1/logs${query}`, { headers: as(key) })).status;
    expect([await logs(''), await logs(`?bot_id=${other}`), await logs(`?bot_id=${own}`)]).to.deep.equal([
      403, 403, 200,
    ]);
    const chat = await service.host.fetch(`/wp-json/svc/v1/chat/${other}/message`, {
      method: 'POST',
      headers: { ...as(key), 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(chat.status).to.equal(403);
  });

  it('are changed, rotated and revoked from the command line', async () => {
    const created = await run('svc key create', { name: 'Once', routes: 'generate' });
    await run('svc key update', { routes: 'chat', 'requests-per-minute': 5 }, created.id);
    expect((await service.generate(goodRequest, as(created.key))).status).to.equal(403);
    await run('svc key update', { routes: 'generate', expires: '2999-01-01' }, created.id);
    const rotated = await run('svc key rotate', { hours: 1 }, created.id);
    expect((await service.generate(goodRequest, as(created.key))).status).to.equal(200);
    expect((await service.generate(goodRequest, as(rotated.key))).status).to.equal(200);
    const listed = await run<PrintedKey[]>('svc key list');
    expect(listed.find((key) => key.id === created.id)).to.include({ state: 'active', expires: '2999-01-01' });
    expect(JSON.stringify(listed)).not.to.contain(rotated.key);
    expect((await run('svc key revoke', {}, created.id)).state).to.equal('revoked');
    const { status, body } = await service.generate(goodRequest, as(rotated.key));
    expect([status, body.code]).to.deep.equal([401, 'rest_svc_key_revoked']);
  });

  it('are created, limited, rotated and revoked on their page', async () => {
    const admin = await signIn(service.host);
    const fields = { id: '', name: '<Import>', 'routes[]': 'generate', models: 'gpt-4o*', expires: '' };
    const invalid = await admin.post('svc/keys', 'save', { ...fields, chatbots: 'one', expires: 'soon' });
    expect(invalid.text).to.contain('Last day must be a date').and.contain('value="&lt;Import&gt;"');
    const created = await admin.post('svc/keys', 'save', fields);
    const key = /svck_[\w-]{43}/.exec(created.text)?.[0] ?? '';
    expect((await service.generate(goodRequest, as(key))).status).to.equal(200);
    const page = await admin.get('svc/keys');
    expect(page)
      .to.contain('&lt;Import&gt;')
      .and.contain('Models: gpt-4o*')
      .and.not.contain(key)
      .and.not.contain('<Import>');
    const id = /\?edit(?:=|&#x3D;)(\d+)#key-form" aria-label="Edit &lt;Import&gt;"/.exec(page)?.[1] ?? '';
    await admin.post('svc/keys', 'save', { ...fields, id, models: 'gpt-9' });
    expect((await service.generate(goodRequest, as(key))).status).to.equal(403);
    await admin.post('svc/keys', 'save', { ...fields, id, 'providers[]': 'claude' });
    expect((await service.generate(goodRequest, as(key))).status).to.equal(403);
    expect(await admin.get(`svc/keys?edit=${id}`)).to.match(/name="providers\[\]" value="claude"\s+checked/);
    await admin.post('svc/keys', 'save', { ...fields, id, 'providers[]': '' });
    const rotated = /svck_[\w-]{43}/.exec((await admin.post('svc/keys', 'rotate', { id })).text)?.[0] ?? '';
    const statuses = async (): Promise<number[]> =>
      Promise.all([key, rotated].map(async (secret) => (await service.generate(goodRequest, as(secret))).status));
    expect(await statuses()).to.deep.equal([200, 200]);
    await admin.post('svc/keys', 'revoke', { id });
    expect(await statuses()).to.deep.equal([200, 200]);
    await admin.post('svc/keys', 'revoke', { do: 'revoke', ids: id });
    expect(await statuses()).to.deep.equal([401, 401]);
    const list = await admin.get('svc/keys?state=revoked&s=IMPORT');
    expect(list).to.contain('Revoked (1)').and.contain('Search: IMPORT').and.not.contain('name="ids[]"');
    expect(await admin.get('svc/keys?state=active&s=import')).to.contain('No key matches these filters.');
  });
});
