import { expect } from 'chai';
import { goodRequest, startService, type Service } from './service.ts';

describe('the commands of the service on a running host', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  async function run(...argv: string[]): Promise<unknown> {
    const { code, out, err } = await service.host.cli(...argv, '--json');
    expect(code, err).to.equal(0);
    return JSON.parse(out);
  }

  it('svc key generate prints a key that works at once; set and clear change it', async () => {
    const { key } = (await run('svc', 'key', 'generate')) as { key: string };
    expect((await service.generate(goodRequest, { authorization: `Bearer ${key}` })).status).to.equal(200);
    await run('svc', 'key', 'set', 'mine alone, and long enough');
    expect((await service.generate(goodRequest, { authorization: `Bearer ${key}` })).status).to.equal(401);
    expect(
      (await service.generate(goodRequest, { authorization: 'Bearer mine alone, and long enough' })).status,
    ).to.equal(200);
    await run('svc', 'key', 'clear');
    expect(
      (await service.generate(goodRequest, { authorization: 'Bearer mine alone, and long enough' })).status,
    ).to.equal(401);
  });

  it('svc provider set makes a provider answer; list shows it without its key', async () => {
    await run('svc', 'key', 'set', 'mine alone, and long enough');
    await run(
      'svc',
      'provider',
      'set',
      'deepseek',
      '--api-key=sk-0123456789abcdef',
      `--base-url=${service.upstream.url}`,
      '--model=far-model',
    );
    const { status, body } = await service.generate(
      { ...goodRequest, provider: 'deepseek' },
      { authorization: 'Bearer mine alone, and long enough' },
    );
    expect([status, body.provider]).to.deep.equal([200, 'DeepSeek']);
    const listed = JSON.stringify(await run('svc', 'provider', 'list'));
    expect(listed).to.contain('ends in cdef').and.contain('far-model').and.not.contain('0123456789');
  });

  it('svc sandbox on answers without any account, and svc provider test counts its models', async () => {
    await run('svc', 'sandbox', 'on');
    const { status, body } = await service.generate(
      { ...goodRequest, provider: 'claude', model: 'claude-sonnet-5-5' },
      { authorization: 'Bearer mine alone, and long enough' },
    );
    expect([status, body.provider]).to.deep.equal([200, 'Claude']);
    expect(await run('svc', 'provider', 'test', 'claude')).to.deep.include({ id: 'claude', works: true, models: 3 });
    await run('svc', 'sandbox', 'off');
    const off = await service.generate(
      { ...goodRequest, provider: 'claude' },
      { authorization: 'Bearer mine alone, and long enough' },
    );
    expect(off.body.code).to.equal('rest_svc_provider_not_configured');
  });

  it('fail with one sentence and exit code 1', async () => {
    const { code, out, err } = await service.host.cli('svc', 'provider', 'set', 'openai', '--base-url=ftp://x');
    expect([code, out]).to.deep.equal([1, '']);
    expect(err.trim())
      .to.match(/^Error: .+\.$/)
      .and.contain('Base URL must be an http or https URL, such as https://api.example.com.');
  });
});
