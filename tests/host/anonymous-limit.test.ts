import { expect } from 'chai';
import type { FakeClock } from '#testing';
import { createTestHost, type TestHost } from '#testing';
import { describeHosts } from '../helpers/dialects.ts';

describeHosts('the limit of REST requests without signing in', ({ location }) => {
  const hosts: TestHost[] = [];
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.stop();
  });
  async function open(limit?: number): Promise<TestHost> {
    const { databaseUrl, dataDir } = location();
    const host = await createTestHost({
      database: databaseUrl ?? dataDir,
      env: { TRUST_PROXY: '1', SITE_URL: 'https://www.example.com' },
    });
    hosts.push(host);
    if (limit !== undefined) await host.options.update('rest_requests_per_minute', limit);
    return host;
  }
  const call = (
    host: TestHost,
    {
      ip = '192.0.2.1',
      path = '/wp/v2/types',
      headers = {},
    }: { ip?: string; path?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> => host.fetch(`/wp-json${path}`, { headers: { 'x-forwarded-for': ip, ...headers } });
  const statuses = async (host: TestHost, times: number, init = {}): Promise<number[]> => {
    const answers: number[] = [];
    for (let time = 0; time < times; time += 1) answers.push((await call(host, init)).status);
    return answers;
  };

  it('is off by default', async () => {
    expect(new Set(await statuses(await open(), 30))).to.deep.equal(new Set([200]));
  });

  it('refuses what is above it with the seconds to wait, until the minute is over', async () => {
    const host = await open(2);
    const clock: FakeClock = host.clock;
    await clock.advance(15_000);
    expect(await statuses(host, 2)).to.deep.equal([200, 200]);
    const refused = await call(host);
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '45']);
    expect(await refused.json()).to.deep.equal({
      code: 'rest_rate_limited',
      message: 'Too many requests from your address. Wait 45 seconds and try again, or sign in.',
      data: { status: 429 },
    });
    await clock.advance(45_000);
    expect(await statuses(host, 3)).to.deep.equal([200, 200, 429]);
  });

  it('counts each address by itself, a household of IPv6 as one, and unknown routes too', async () => {
    const host = await open(1);
    expect(await statuses(host, 2)).to.deep.equal([200, 429]);
    expect(await statuses(host, 1, { ip: '192.0.2.2' })).to.deep.equal([200]);
    expect(await statuses(host, 1, { ip: '2001:db8:0:1::1' })).to.deep.equal([200]);
    expect(await statuses(host, 1, { ip: '2001:db8:0:1::2' })).to.deep.equal([429]);
    expect(await statuses(host, 1, { ip: '2001:db8:0:2::1' })).to.deep.equal([200]);
    expect(await statuses(host, 2, { ip: '192.0.2.3', path: '/no/such/route' })).to.deep.equal([404, 429]);
  });

  it('leaves those who sign in, routes with a key of their own, and calls from inside', async () => {
    const host = await open(1);
    host.rest.registerRoute('keyed/v1', '/open', { authenticate: () => undefined, handler: () => 'in' });
    await host.users.create({
      login: 'ada',
      email: 'ada@example.com',
      password: 'correct horse',
      role: 'administrator',
    });
    const user = await host.users.find('ada');
    const made = await host.rest.dispatch('/wp/v2/users/me/application-passwords', {
      method: 'POST',
      json: { name: 'test' },
      ...(user && { user }),
    });
    const authorization = `Basic ${btoa(`ada:${(made.body as { password: string }).password}`)}`;
    expect(await statuses(host, 3, { headers: { authorization } })).to.deep.equal([200, 200, 200]);
    expect(await statuses(host, 3, { path: '/keyed/v1/open' })).to.deep.equal([200, 200, 200]);
    for (let time = 0; time < 3; time += 1) expect((await host.rest.dispatch('/wp/v2/types')).status).to.equal(200);
    expect(await statuses(host, 2)).to.deep.equal([200, 429]);
  });

  it('counts every part of a batch', async () => {
    const host = await open(3);
    let runs = 0;
    host.rest.registerRoute('batched/v1', '/run', { methods: ['POST'], allowBatch: true, handler: () => (runs += 1) });
    const batch = (ip: string, extra: Record<string, unknown> = {}): Promise<Response> =>
      host.fetch('/wp-json/batch/v1', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': ip },
        body: JSON.stringify({ ...extra, requests: Array.from({ length: 25 }, () => ({ path: '/batched/v1/run' })) }),
      });
    const parts = async (response: Response): Promise<number[]> =>
      ((await response.json()) as { responses: { status: number }[] }).responses.map(({ status }) => status);
    // The batch itself is the first of the three requests.
    expect(await parts(await batch('192.0.2.1'))).to.deep.equal([200, 200, ...Array.from({ length: 23 }, () => 429)]);
    expect(runs).to.equal(2);
    expect((await batch('192.0.2.1')).status).to.equal(429);
    runs = 0;
    const strict = await batch('192.0.2.2', { validation: 'require-all-validate' });
    expect((await parts(strict)).filter((status) => status === 200)).to.have.length(2);
    expect(runs).to.equal(2);
  });

  it('follows the setting at once, here and on other nodes, and refuses what is no number', async () => {
    const host = await open(1);
    const other = await open();
    expect(await statuses(other, 2)).to.deep.equal([200, 429]);
    expect(await statuses(host, 2)).to.deep.equal([200, 429]);
    await host.options.update('rest_requests_per_minute', 0);
    expect(await statuses(host, 3)).to.deep.equal([200, 200, 200]);
    const thrown: unknown = await host.options.update('rest_requests_per_minute', -1).catch((error: unknown) => error);
    expect(thrown).to.have.property('code', 'rest_invalid_param');
  });
});
