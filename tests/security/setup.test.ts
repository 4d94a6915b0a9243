import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { describeDialects } from '../helpers/dialects.ts';

describeDialects('first-run setup under attack', (_open, { location }) => {
  let host: TestHost;
  let token: string;
  beforeEach(async () => {
    const { databaseUrl, dataDir } = location();
    host = await createTestHost({ database: databaseUrl ?? dataDir });
    token = new URL(host.setupLink ?? 'http://none').searchParams.get('token') ?? '';
  });
  afterEach(() => host.stop());

  const submit = (fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}): Promise<Response> =>
    host.fetch('/admin/setup', {
      method: 'POST',
      redirect: 'manual',
      headers,
      body: new URLSearchParams({
        token,
        site_name: 'Tea',
        login: 'ada',
        email: 'ada@example.com',
        password: 'correct horse battery',
        password_again: 'correct horse battery',
        ...fields,
      }),
    });

  it('submitted 12 times at once creates one administrator', async () => {
    expect(token).not.to.equal('');
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) => submit({ login: `ada${String(n)}`, email: `ada${String(n)}@example.com` })),
    );
    expect(responses.filter(({ status }) => status === 303)).to.have.length(1);
    expect(
      responses.filter((response) => response.headers.getSetCookie().some((line) => line.includes('session='))),
    ).to.have.length(1);
    expect(await host.users.count({})).to.equal(1);
    expect((await host.users.list({}))[0]?.roles).to.deep.equal(['administrator']);
    expect((await submit({ login: 'eve', email: 'eve@example.com' })).status, 'reused').to.equal(403);
    expect(await host.users.count({})).to.equal(1);
  });

  it('takes no other token and no form of another site', async () => {
    for (const fields of [{ token: '' }, { token: 'x' }, { token: `${token}x` }, { token: token.slice(1) }])
      expect((await submit(fields)).status, JSON.stringify(fields)).to.equal(403);
    expect((await submit({ token: '', 'token[]': token })).status, 'in a list').to.equal(403);
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, { origin: 'null' }])
      expect((await submit({}, headers)).status, JSON.stringify(headers)).to.equal(403);
    expect(await host.users.count({})).to.equal(0);
  });
});
