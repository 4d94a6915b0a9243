import { copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { until } from '../helpers/until.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openReceiver, type Receiver } from '../svc/webhooks/delivery/open-receiver.ts';
import { totpCode } from '../users/two-factor/totp-code.ts';
import { cli, emitItemCompleted, secretLabels, signatureOf, signingSecret, storeSecrets } from './secrets-site.ts';

/** What the backed up site had. */
interface Site {
  readonly userId: number;
  readonly totpSecret: string;
  readonly codes: readonly string[];
  readonly file: string;
}

describeDialects('the restore of a full site into an empty folder', (_open, { location }) => {
  let receiver: Receiver;
  let hosts: TestHost[];
  let folder: string;
  let site: Site;

  beforeEach(async function () {
    this.timeout(60_000);
    hosts = [];
    receiver = await openReceiver();
    receiver.answer = (_request, response) => void response.writeHead(200).end('{}');
    folder = await mkdtemp(join(location().dataDir, 'restored-'));
    const host = await start(location().dataDir);
    site = await fill(host);
    expect((await host.cli('db', 'backup', backup())).code).to.equal(0);
    await hosts.pop()?.stop();
  });
  afterEach(async () => {
    for (const host of hosts) await host.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  const backup = (): string => join(location().dataDir, 'site.jsonl.gz');
  async function start(dataDir: string): Promise<TestHost> {
    const host = await createTestHost({
      plugins: ['svc'],
      database: location().databaseUrl ?? dataDir,
      clock: createSystemClock(),
      env: { DATA_DIR: dataDir, SECRET_KEY: '' },
    });
    hosts.push(host);
    return host;
  }
  async function fill(host: TestHost): Promise<Site> {
    await storeSecrets(host, `http://127.0.0.1:${String(receiver.port)}`);
    const user = await host.users.create({
      login: 'ada',
      email: 'ada@example.com',
      password: 'a long password',
      role: 'administrator',
    });
    const { secret } = (await host.twoFactor.beginTotp(user))!;
    const codes = (await host.twoFactor.confirmTotp(user.id, totpCode(secret, Date.now())))!;
    const media = await host.content.media.save({ name: 'notes.txt', bytes: Buffer.from('Notes'), authorId: user.id });
    return { userId: user.id, totpSecret: secret, codes, file: media.file };
  }

  /** Restores into the empty folder, with what was copied there. */
  async function restore(copied: { readonly key: boolean; readonly uploads: boolean }) {
    const from = location().dataDir;
    await mkdir(folder, { recursive: true });
    if (copied.key) await copyFile(join(from, 'secret.key'), join(folder, 'secret.key'));
    if (copied.uploads) await cp(join(from, 'uploads'), join(folder, 'uploads'), { recursive: true });
    const host = await start(folder);
    const { code, out, err } = await host.cli('db', 'restore', backup(), '--json');
    expect(code, err).to.equal(0);
    const ready = await host.fetch('/readyz');
    const { details = {} } = (await ready.json()) as { readonly details?: Record<string, string> };
    return {
      host,
      warnings: ((JSON.parse(out) as { warnings?: string[] }).warnings ?? []).join('\n'),
      doctor: (await host.cli('doctor')).err,
      ready: ready.status,
      details,
    };
  }
  const hooks = (): Receiver['received'] => receiver.received.filter(({ path }) => path === '/hook');
  const isSigned = (): boolean =>
    hooks().every((request) => request.headers['x-svc-signature'] === signatureOf(request, signingSecret));

  it('with the key file and the uploads: everything works and nothing is reported', async function () {
    this.timeout(60_000);
    const { host, warnings, doctor, ready, details } = await restore({ key: true, uploads: true });
    expect([warnings, ready, details['secrets']]).to.deep.equal(['', 200, undefined]);
    expect(doctor).not.to.include('cannot be read').and.not.to.include('uploads').and.not.to.include('security log');
    await emitItemCompleted(host, 1);
    await until('it was received', () => hooks().length === 1);
    expect(isSigned()).to.equal(true);
    expect(await host.twoFactor.useCode(site.userId, totpCode(site.totpSecret, Date.now() + 30_000))).to.equal('totp');
    expect(await host.twoFactor.useCode(site.userId, site.codes[0]!)).to.equal('recovery_code');
    expect(await (await host.fetch(`/uploads/${site.file}`)).text()).to.equal('Notes');
  });

  it('with the key file alone: the missing uploads are named, secrets work', async function () {
    this.timeout(60_000);
    const { host, warnings, doctor, ready } = await restore({ key: true, uploads: false });
    expect(ready).to.equal(200);
    for (const text of [warnings, doctor])
      expect(text).to.include(site.file).and.to.include('missing').and.not.to.include('cannot be read');
    expect((await host.fetch(`/uploads/${site.file}`)).status).to.equal(404);
    await emitItemCompleted(host, 1);
    await until('it was received', () => hooks().length === 1);
    expect(isSigned()).to.equal(true);
  });

  for (const uploads of [true, false])
    it(`without the key file, ${uploads ? 'with' : 'and without'} the uploads: secrets are named, deliveries held`, async function () {
      this.timeout(60_000);
      const { host, warnings, doctor, ready, details } = await restore({ key: false, uploads });
      expect(ready).to.equal(200);
      const labels = [...secretLabels, `Authenticator app of the user ${site.userId}`];
      for (const label of labels)
        for (const text of [warnings, doctor, details['secrets']]) expect(text).to.include(label);
      for (const text of [warnings, doctor])
        if (uploads) expect(text).not.to.include(site.file);
        else expect(text).to.include(site.file);
      expect((await host.fetch(`/uploads/${site.file}`)).status).to.equal(uploads ? 200 : 404);
      // The password still works; the second step says why it does not.
      expect(await host.users.verify('ada', 'a long password')).to.include({ id: site.userId });
      const refused = await host.twoFactor.useCode(site.userId, totpCode(site.totpSecret, Date.now())).catch(String);
      expect(refused).to.include('saved with another SECRET_KEY');

      const actions: string[] = [];
      for (const name of ['held', 'released'] as const)
        host.hooks.addAction(`svc_event_webhooks_endpoint_${name}`, () => void actions.push(name));
      await emitItemCompleted(host, 1);
      await until('it is held', () => actions.includes('held'));
      await cli(host, 'svc', 'queue', 'work');
      expect(hooks()).to.deep.equal([]);
      await cli(host, 'svc', 'webhook', 'secret', 'set', signingSecret);
      await until('it was received', () => hooks().length === 1);
      expect([isSigned(), actions]).to.deep.equal([true, ['held', 'released']]);
    });
});
