import { expect } from 'chai';
import { goodRequest, restKey, startService, type Answer, type Service } from './service.ts';

describe('the REST key over HTTP', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  beforeEach(() => service.saveRestKey(restKey));
  after(() => service.stop());

  function expectRefused({ status, body }: Answer): void {
    expect(status).to.equal(401);
    expect(body).to.deep.equal({
      code: 'rest_svc_invalid_api_key',
      message: 'Invalid or missing API Key.',
      data: { status: 401 },
    });
  }

  const broken: Record<string, unknown> = {
    'a good body': goodRequest,
    'no parameters': {},
    'malformed JSON': '{"provider":',
    'a body that is no object': '[1]',
    'a wrong type everywhere': { provider: 1, model: [], messages: 'x', stream: 'perhaps' },
    'the key inside malformed JSON': `{"svc_api_key":"${restKey}"`,
  };
  for (const [name, body] of Object.entries(broken)) {
    it(`is asked for before anything else: 401 with ${name}`, async () => {
      expectRefused(await service.generate(body, {}));
      expectRefused(await service.generate(body, { authorization: 'Bearer wrong' }));
    });
  }

  it('lets in by header, in any case, white space trimmed', async () => {
    for (const authorization of [`Bearer ${restKey}`, `bearer ${restKey}`, `BEARER   ${restKey}  `]) {
      expect((await service.generate(goodRequest, { authorization })).status).to.equal(200);
    }
  });

  it('lets in by a parameter of JSON body, form body or query', async () => {
    expect((await service.generate({ ...goodRequest, svc_api_key: restKey }, {})).status).to.equal(200);
    expect((await service.generate(goodRequest, {}, `?svc_api_key=${encodeURIComponent(restKey)}`)).status).to.equal(
      200,
    );
    const form = await service.generate(`svc_api_key=${encodeURIComponent(restKey)}`, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect([form.status, form.body.code]).to.deep.equal([400, 'rest_missing_callback_param']);
  });

  it('lets in before the body by header and query, and by a parameter of a body of at most 1 MB', async () => {
    const padded = { ...goodRequest, padding: 'x'.repeat(900_000) };
    const query = `?svc_api_key=${encodeURIComponent(restKey)}`;
    expect((await service.generate(padded, { authorization: `Bearer ${restKey}` })).status).to.equal(200);
    expect((await service.generate(padded, {}, query)).status).to.equal(200);
    expect((await service.generate({ ...padded, svc_api_key: restKey }, {})).status).to.equal(200);
    expectRefused(await service.generate(padded, {}));
    expectRefused(await service.generate({ svc_api_key: restKey, padding: 'x'.repeat(1_100_000) }, {}));
  });

  it('tries the parameter when the header does not match', async () => {
    const { status } = await service.generate(
      goodRequest,
      { authorization: 'Bearer of something else' },
      `?svc_api_key=${encodeURIComponent(restKey)}`,
    );
    expect(status).to.equal(200);
  });

  it('accepts a right key in any place, whatever is in the others (contract 5.4, D49)', async () => {
    const query = `?svc_api_key=${encodeURIComponent(restKey)}`;
    const wrong = { authorization: 'Bearer wrong' };
    expect((await service.generate({ ...goodRequest, svc_api_key: 'wrong' }, wrong, query)).status).to.equal(200);
    expect(
      (await service.generate({ ...goodRequest, svc_api_key: restKey }, wrong, '?svc_api_key=no')).status,
    ).to.equal(200);
    const right = { authorization: `Bearer ${restKey}` };
    expect(
      (await service.generate({ ...goodRequest, svc_api_key: 'wrong' }, right, '?svc_api_key=no')).status,
    ).to.equal(200);
    expectRefused(await service.generate({ ...goodRequest, svc_api_key: 'wrong' }, wrong, '?svc_api_key=no'));
  });

  it('is decided before HTTP authentication and nonces (contract 5.5, D49)', async () => {
    const query = `?svc_api_key=${encodeURIComponent(restKey)}`;
    for (const headers of [
      { authorization: `Basic ${Buffer.from('staging:secret').toString('base64')}` },
      { authorization: `Basic ${Buffer.from('a\0b:c').toString('base64')}` },
      { authorization: 'Basic ???' },
      { 'x-wp-nonce': 'stale' },
    ]) {
      expect((await service.generate(goodRequest, headers, query)).status).to.equal(200);
      expect((await service.generate({ ...goodRequest, svc_api_key: restKey }, headers)).status).to.equal(200);
      expectRefused(await service.generate(goodRequest, headers));
      expectRefused(await service.generate(goodRequest, headers, '?svc_api_key=wrong'));
    }
  });

  it('may be short; doctor and Site Health say so (contract 5.2, D39)', async () => {
    await service.saveRestKey('k');
    expect((await service.generate(goodRequest, { authorization: 'Bearer k' })).status).to.equal(200);
    const [found] = await service.host.plugins.health('svc');
    expect(found?.results.map(({ label }) => label)).to.include('The REST API key is short');
  });

  it('lets nobody in while it is empty', async () => {
    await service.saveRestKey('');
    expectRefused(await service.generate(goodRequest, { authorization: `Bearer ${restKey}` }));
    expectRefused(await service.generate(goodRequest, { authorization: 'Bearer ' }));
    expectRefused(await service.generate({ ...goodRequest, svc_api_key: '' }, {}, '?svc_api_key='));
  });

  it('answers 429 after 100 wrong keys from an address, and lets the right one in', async () => {
    const statuses = [];
    for (let n = 0; n < 110; n += 1)
      statuses.push((await service.generate(goodRequest, { authorization: `Bearer wrong ${n}` })).status);
    expect(statuses.filter((status) => status === 401).length).to.be.at.most(100);
    const limited = await service.generate(goodRequest, {}, '?svc_api_key=wrong');
    expect([limited.status, limited.body.code]).to.deep.equal([429, 'too_many_login_attempts']);
    expect(limited.headers.get('retry-after')).to.equal('900');
    expect((await service.generate(goodRequest)).status).to.equal(200);
    expectRefused(await service.generate(goodRequest, {}));
    await service.clock.advance(15 * 60_000);
  });

  it('lets the new key in and the old one out as soon as it is changed', async () => {
    await service.saveRestKey('another key');
    expectRefused(await service.generate(goodRequest));
    expect((await service.generate(goodRequest, { authorization: 'Bearer another key' })).status).to.equal(200);
  });

  it('never reaches the log, and neither does the key of a provider', async () => {
    await service.generate(
      { ...goodRequest, svc_api_key: restKey, provider: 'nobody' },
      { authorization: 'Bearer wrong-but-telling' },
      `?svc_api_key=${encodeURIComponent(restKey)}`,
    );
    const lines = service.host.logged.join('\n');
    expect(lines)
      .not.to.contain(restKey)
      .and.not.contain(encodeURIComponent(restKey))
      .and.not.contain('wrong-but-telling')
      .and.not.contain('sk-upstream');
  });

  it('tells broken JSON from a good key', async () => {
    const { status, body } = await service.generate('{"provider":');
    expect([status, body.code]).to.deep.equal([400, 'rest_invalid_json']);
  });
});
