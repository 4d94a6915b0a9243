import { readFile, writeFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { until } from '../helpers/until.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { signIn } from '../helpers/sign-in.ts';
import { openReceiver, type Receiver } from '../svc/webhooks/delivery/open-receiver.ts';
import { cli, emitItemCompleted, restKey, signatureOf, signingSecret, storeSecrets } from './secrets-site.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

const one = 'the first key of the site';
const other = 'another key of the site';

describeDialects('secrets that cannot be read', (_open, { location }) => {
  let receiver: Receiver;
  let hosts: TestHost[];

  beforeEach(async () => {
    hosts = [];
    receiver = await openReceiver();
    receiver.answer = (_request, response) => void response.writeHead(200).end('{}');
  });
  afterEach(async () => {
    for (const host of hosts) await host.stop();
    await receiver.close();
  });

  const url = (path = ''): string => `http://127.0.0.1:${String(receiver.port)}${path}`;
  /** A node of the site; null: with the key file. */
  async function start(key: string | null): Promise<TestHost> {
    const { databaseUrl, dataDir } = location();
    const host = await createMigratedHost({
      plugins: ['svc'],
      database: databaseUrl ?? dataDir,
      clock: createSystemClock(),
      env: { DATA_DIR: dataDir, SECRET_KEY: key ?? '' },
    });
    hosts.push(host);
    return host;
  }
  const setUp = (host: TestHost): Promise<void> => storeSecrets(host, url());
  const emit = emitItemCompleted;
  const hooksReceived = (): Receiver['received'] => receiver.received.filter(({ path }) => path === '/hook');
  function expectSigned(): void {
    for (const request of hooksReceived())
      expect(request.headers['x-svc-signature']).to.equal(signatureOf(request, signingSecret));
  }

  it('hold deliveries with a reason everywhere, and none is sent unsigned', async function () {
    this.timeout(60_000);
    await setUp(await start(one));
    await hosts.pop()?.stop();
    const host = await start(other);
    const held: unknown[] = [];
    host.hooks.addAction('svc_event_webhooks_endpoint_held', (...given) => void held.push(given));
    await emit(host, 1);
    await until('it is held', () => held.length > 0);
    await cli(host, 'svc', 'queue', 'work');
    expect(hooksReceived()).to.deep.equal([]);

    const [delivery] = JSON.parse(await cli(host, 'svc', 'queue', 'list', '--json')) as Record<string, string>[];
    expect(delivery).to.include({ state: 'pending', attempts: 0 });
    expect(delivery?.['held']).to.match(/signing secret is set but cannot be read\. Restore/);
    const status = JSON.parse(await cli(host, 'svc', 'queue', 'status', '--json')) as Record<string, unknown>;
    expect(status['held']).to.have.length(1);
    const metrics = await (await host.fetch('/metrics')).text();
    expect(metrics).to.match(/^svc_webhook_endpoint_held\{endpoint="[^"]+"\} 1$/m);
    expect(metrics).to.match(/^host_secrets_unreadable [1-9]/m);
    expect(host.logged.join('\n')).to.include('webhook_endpoint_held');

    const admin = await signIn(host);
    const page = await admin.get('svc/webhooks');
    expect(page).to.include('Deliveries are held.').and.to.include('WEBHOOK HELD');
    expect(await admin.get(`svc/deliveries/delivery?id=${delivery?.['id'] ?? ''}`)).to.include('The delivery is held.');
    expect(await admin.get(''))
      .to.include('Saved secrets')
      .and.to.include('cannot be read');
    const test = await cli(host, 'svc', 'webhook', 'test', String((status['held'] as string[])[0]));
    expect(test).to.include('cannot be read');
    expect(hooksReceived()).to.deep.equal([]);
  });

  it('are named by doctor and readyz, and refuse what would go without them', async function () {
    this.timeout(60_000);
    await setUp(await start(one));
    await hosts.pop()?.stop();
    const host = await start(other);
    const labels = [
      'Webhook signing secret',
      'REST API key',
      'OpenAI: API key',
      'Qdrant: API key',
      'Password of the mail server',
    ];
    const doctor = await host.cli('doctor');
    expect(doctor.code).to.equal(1);
    const ready = await host.fetch('/readyz');
    expect(ready.status).to.equal(200);
    const { checks, details } = (await ready.json()) as { checks: unknown; details: { secrets: string } };
    expect(checks).to.include({ secrets: 'degraded' });
    for (const label of labels) {
      expect(doctor.err).to.include(label);
      expect(details.secrets).to.include(label);
    }
    const proxied = await host.fetch('/readyz', { headers: { 'X-Forwarded-For': '203.0.113.5' } });
    expect(await proxied.json()).not.to.have.property('details');

    const call = await host.fetch('/wp-json/svc/v1/generate', {
      method: 'POST',
      headers: { Authorization: `Bearer ${restKey}`, 'Content-Type': 'application/json' },
      body: '{"messages":[{"role":"user","content":"Hi"}]}',
    });
    expect([call.status, ((await call.json()) as { code: string }).code]).to.deep.equal([
      401,
      'rest_svc_invalid_api_key',
    ]);
    expect(host.logged.join('\n')).to.include('rest_key_unreadable');
    for (const command of [
      ['provider', 'test', 'openai'],
      ['vector-store', 'test', 'qdrant'],
    ])
      expect(await cli(host, 'svc', ...command)).to.match(/saved API key of \w+ cannot be read/);
    expect(await cli(host, 'svc', 'provider', 'list')).to.include('cannot be read, set it again');
    await host.mail
      .send({ to: 'person@example.com', subject: 'Hello', text: 'Hello' })
      .then(() => expect.fail('The mail was sent.'))
      .catch((error: { code?: string }) => expect(error.code).to.equal('mail_password_unreadable'));
    expect(receiver.received).to.deep.equal([]);
  });

  it('let deliveries resume by themselves once the secret is set again, or removed', async function () {
    this.timeout(60_000);
    await setUp(await start(one));
    await hosts.pop()?.stop();
    const host = await start(other);
    const actions: string[] = [];
    for (const name of ['held', 'released'] as const)
      host.hooks.addAction(`svc_event_webhooks_endpoint_${name}`, () => void actions.push(name));
    await emit(host, 1);
    await until('it is held', () => actions.includes('held'));
    await cli(host, 'svc', 'webhook', 'secret', 'set', signingSecret);
    await until('it was received', () => hooksReceived().length === 1);
    expectSigned();
    expect(actions).to.deep.equal(['held', 'released']);
    expect(await host.fetch('/metrics').then((response) => response.text())).to.match(
      /^svc_webhook_endpoint_held\{[^}]+\} 0$/m,
    );
    await cli(host, 'svc', 'webhook', 'secret', 'clear');
    await emit(host, 2);
    await until('it was received', () => hooksReceived().length === 2);
    expect(hooksReceived()[1]?.headers).not.to.have.property('x-svc-signature');
  });

  it('can be read again by a running site when the key file is restored', async function () {
    this.timeout(60_000);
    const file = join(location().dataDir, 'secret.key');
    await setUp(await start(null));
    const key = await readFile(file);
    await hosts.pop()?.stop();
    await rm(file);
    const host = await start(null);
    const held: unknown[] = [];
    host.hooks.addAction('svc_event_webhooks_endpoint_held', () => void held.push(0));
    await emit(host, 1);
    await until('it is held', () => held.length > 0);
    expect(hooksReceived()).to.deep.equal([]);
    await writeFile(file, key);
    await until('it was received', () => hooksReceived().length === 1);
    expectSigned();
    expect((await host.cli('doctor')).err).not.to.include('cannot be read');
  });

  it('hold deliveries with a custom header or an own secret, and no others', async function () {
    this.timeout(60_000);
    const first = await start(one);
    await cli(first, 'svc', 'webhook', 'on');
    const endpoint = { url: url('/hook'), enabled: true, events: ['task.item_completed'] };
    for (const own of [{ headers: { Authorization: 'Bearer of the receiver' } }, { secret: signingSecret }, {}])
      await cli(
        first,
        'svc',
        'webhook',
        'add',
        '--json',
        JSON.stringify({ ...endpoint, ...own, name: Object.keys(own)[0] ?? 'plain' }),
      );
    await hosts.pop()?.stop();
    const host = await start(other);
    await emit(host, 1);
    await until('it was received', () => hooksReceived().length > 0);
    await cli(host, 'svc', 'queue', 'work');
    const deliveries = JSON.parse(await cli(host, 'svc', 'queue', 'list', '--json')) as Record<string, string | null>[];
    const reasons = Object.fromEntries(deliveries.map(({ endpoint: name, held }) => [name, held]));
    expect(reasons).to.include({ plain: null });
    expect(reasons['headers']).to.match(/header Authorization is set but cannot be read/);
    expect(reasons['secret']).to.match(/signing secret of this endpoint is set but cannot be read/);
    expect(hooksReceived()).to.have.length(1);
  });
});
