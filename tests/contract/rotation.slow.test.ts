import { spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { createRotation, type Rotation } from '../../host/secrets/rotation.ts';
import { until } from '../helpers/until.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { checkout, runCli } from '../helpers/running-site.ts';
import { openReceiver, type Receiver } from '../svc/webhooks/delivery/open-receiver.ts';
import { totpCode } from '../users/two-factor/totp-code.ts';
import {
  cli,
  emitItemCompleted,
  providerKey,
  restKey,
  signatureOf,
  signingSecret,
  storeSecrets,
} from './secrets-site.ts';

/** A user with an authenticator app. */
interface Member {
  readonly id: number;
  readonly secret: string;
  readonly codes: readonly string[];
}

describeHosts('secrets rotate', ({ location }) => {
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

  /** A node of the site; without `env`, with the key file. */
  async function start(env: Readonly<Record<string, string>> = { SECRET_KEY: '' }): Promise<TestHost> {
    const { databaseUrl, dataDir } = location();
    const host = await createTestHost({
      plugins: ['svc'],
      database: databaseUrl ?? dataDir,
      clock: createSystemClock(),
      env: { DATA_DIR: dataDir, ...env },
    });
    hosts.push(host);
    return host;
  }
  async function stopAll(): Promise<void> {
    for (const host of hosts.splice(0)) await host.stop();
  }
  async function setUp(host: TestHost): Promise<Member> {
    await storeSecrets(host, `http://127.0.0.1:${String(receiver.port)}`);
    const user = await host.users.create({
      login: 'ada',
      email: 'ada@example.com',
      password: 'a long password',
      role: 'administrator',
    });
    const { secret } = (await host.twoFactor.beginTotp(user))!;
    const codes = (await host.twoFactor.confirmTotp(user.id, totpCode(secret, Date.now())))!;
    return { id: user.id, secret, codes };
  }
  const keyFile = (): string => join(location().dataDir, 'secret.key');
  const keys = async (): Promise<string[]> => (await readFile(keyFile(), 'utf8')).trim().split('\n');

  /** Everything that the site keeps encrypted works in this process. */
  async function expectAllToWork(host: TestHost, { id, secret, codes }: Member): Promise<void> {
    expect(await host.secrets.unreadable()).to.deep.equal([]);
    expect((await host.securityLog.verify()).brokenAt).to.equal(null);
    expect(await host.twoFactor.useCode(id, codes[0]!)).to.equal('recovery_code');
    expect(await host.twoFactor.useCode(id, totpCode(secret, Date.now() + 30_000))).to.equal('totp');
    const before = receiver.received.length;
    await emitItemCompleted(host, before + 1);
    await until('it was received', () => receiver.received.length > before);
    expect(receiver.received.at(-1)?.headers['x-svc-signature']).to.equal(
      signatureOf(receiver.received.at(-1)!, signingSecret),
    );
    await cli(host, 'svc', 'provider', 'test', 'openai');
    expect(receiver.received.at(-1)?.headers['authorization']).to.equal(`Bearer ${providerKey}`);
    const call = await host.fetch('/wp-json/svc/v1/generate', {
      method: 'POST',
      headers: { Authorization: `Bearer ${restKey}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect(call.status).to.equal(400);
  }

  it('encrypts everything again under a new key, while another node runs', async function () {
    this.timeout(60_000);
    const running = await start();
    const member = await setUp(running);
    await running.mail.queue({ to: 'ada@example.com', subject: 'Hello', text: 'A queued mail' });
    await running.mail.settled();
    const [former] = await keys();
    const rotated = JSON.parse((await (await start()).cli('secrets', 'rotate', '--json')).out) as Record<
      string,
      unknown
    >;
    expect(rotated).to.include({ continued: false, finished: true });
    // Five of `storeSecrets`, the authenticator app, the mail, and keys that the site made for itself.
    expect(rotated['rewritten']).to.be.at.least(7);
    expect(rotated['next']).to.include('Backups from before need the previous key');
    const present = await keys();
    expect(present).to.have.length(1).and.not.include(former);
    expect((await stat(keyFile())).mode & 0o777).to.equal(0o600);

    await expectAllToWork(running, member);
    expect(running.logged.join('\n')).not.to.include('unreadable');
    expect((await running.securityLog.list({ limit: 100 })).map(({ event }) => event)).to.include('secret_key_rotated');
    await stopAll();
    const restarted = await start();
    const doctor = await restarted.cli('doctor');
    expect(doctor.err).not.to.include('secret').and.not.to.include('security log');
    const [mail] = (await restarted.database.knex('mails')) as { sealed: string }[];
    expect(restarted.secrets.unseal('mails', mail!.sealed)).to.include('A queued mail');
    expect(await restarted.twoFactor.useCode(member.id, member.codes[1]!)).to.equal('recovery_code');
    expect((await restarted.cli('secrets', 'rotate')).code, 'a second rotation').to.equal(0);
    expect(await keys())
      .to.have.length(1)
      .and.not.include(present[0]);
    expect(await restarted.twoFactor.useCode(member.id, member.codes[2]!)).to.equal('recovery_code');
    expect((await restarted.securityLog.verify()).brokenAt).to.equal(null);
  });

  it('continues where it stopped, and nothing is unreadable in between', async function () {
    this.timeout(120_000);
    const host = await start();
    const member = await setUp(host);
    const steps: readonly (keyof Rotation)[] = ['begin', 'rewrite', 'retire'];
    for (let count = 1; count <= steps.length; count += 1) {
      const rotation = createRotation(host);
      for (const step of steps.slice(0, count)) await rotation[step]();
      const between = await keys();
      expect(between, `stopped after ${steps[count - 1] ?? ''}`).to.have.length(2);
      expect(await host.secrets.unreadable()).to.deep.equal([]);
      expect((await host.securityLog.verify()).brokenAt).to.equal(null);
      expect(await host.twoFactor.useCode(member.id, member.codes[count]!)).to.equal('recovery_code');
      expect(await cli(host, 'doctor')).to.not.include('cannot be read');
      const finished = JSON.parse((await host.cli('secrets', 'rotate', '--json')).out) as Record<string, unknown>;
      expect(finished).to.include({ continued: true, finished: true });
      expect(await keys()).to.deep.equal([between[0]]);
    }
    await stopAll();
    await expectAllToWork(await start(), member);
  });

  it('killed at any moment leaves everything readable, and a second run finishes it', async function () {
    this.timeout(170_000);
    const member = await setUp(await start());
    await stopAll();
    const { databaseUrl, dataDir } = location();
    const env = {
      ...{ PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, LOG_LEVEL: 'silent', SITE_URL: 'http://127.0.0.1:3000' },
      ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
    };
    const first = (await keys())[0];
    let isKilled = false;
    for (const [count, delay] of [0, 30, 120, 500, 1_700].entries()) {
      const child = spawn(process.execPath, ['host/cli/main.js', 'secrets', 'rotate'], { cwd: checkout, env });
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
      // From here on the new key is in use, and the secrets are encrypted again one after the other.
      if (count === 0) while (!hasEnded() && (await keys()).length < 2) await pause(2);
      else await pause(600);
      await pause(delay);
      child.kill('SIGKILL');
      await ended;
      isKilled ||= child.signalCode === 'SIGKILL' && (await keys()).length === 2;
      const host = await start();
      expect(await host.secrets.unreadable(), `killed after ${String(delay)} ms`).to.deep.equal([]);
      expect((await host.securityLog.verify()).brokenAt).to.equal(null);
      await stopAll();
    }
    expect(isKilled, 'killed between the first and the last step').to.equal(true);
    await runCli(['secrets', 'rotate'], env);
    expect(await keys())
      .to.have.length(1)
      .and.not.include(first);
    await expectAllToWork(await start(), member);
  });

  it('changes nothing while a store fails, keeps both keys, and says what to do', async function () {
    this.timeout(60_000);
    const host = await start();
    await setUp(host);
    const before = await host.options.get('svc_webhooks');
    const undo = host.secrets.addStore({
      async rewrite(change) {
        if (change({ label: 'x', encrypted: host.secrets.encrypt('x') }) !== '') throw new Error('The disk is full.');
      },
    });
    const { err } = await host.cli('secrets', 'rotate');
    expect(err).to.include('The disk is full.');
    expect(await keys()).to.have.length(1);
    undo();
    let calls = 0;
    const undoSecond = host.secrets.addStore({
      async rewrite() {
        if ((calls += 1) > 1) throw new Error('The disk is full.');
      },
    });
    const second = await host.cli('secrets', 'rotate');
    expect(second.err).to.include('Both keys are accepted. Run the command again.');
    expect(await keys()).to.have.length(2);
    expect(await host.options.get('svc_webhooks')).to.deep.equal(before);
    undoSecond();
    expect((await host.cli('secrets', 'rotate')).code).to.equal(0);
    expect(await host.options.get('svc_webhooks')).not.to.deep.equal(before);
  });

  it('keeps the previous key while a secret that no plugin names needs it, or when asked to', async function () {
    this.timeout(60_000);
    const host = await start();
    await host.options.update('shop_settings', { key: host.secrets.encrypt('a secret of a plugin that is off') });
    const left = JSON.parse((await host.cli('secrets', 'rotate', '--json')).out) as Record<string, unknown>;
    expect(left).to.include({ finished: false });
    expect(left['next']).to.include('shop_settings').and.to.include('Activate the plugin');
    expect(await keys()).to.have.length(2);
    await host.options.delete('shop_settings');
    const kept = JSON.parse((await host.cli('secrets', 'rotate', '--keep-previous', '--json')).out) as object;
    expect(kept).to.include({ finished: false, continued: true });
    expect(await keys()).to.have.length(2);
    expect((await host.cli('secrets', 'rotate')).code).to.equal(0);
    expect(await keys()).to.have.length(1);
  });

  it('refuses while a secret cannot be read, and leaves the key', async function () {
    this.timeout(60_000);
    await setUp(await start());
    await stopAll();
    await writeFile(keyFile(), `${'0'.repeat(64)}\n`);
    const { code, err } = await (await start()).cli('secrets', 'rotate');
    expect([code, err.includes('Webhook signing secret'), err.includes('Nothing was changed.')]).to.deep.equal([
      1,
      true,
      true,
    ]);
    expect(await keys()).to.deep.equal(['0'.repeat(64)]);
  });

  it('works with SECRET_KEY and SECRET_KEY_PREVIOUS, also from a key file', async function () {
    this.timeout(60_000);
    const member = await setUp(await start());
    const file = await readFile(keyFile(), 'utf8');
    await stopAll();
    const first = 'the first key of the environment';
    const moved = await start({ SECRET_KEY: first, SECRET_KEY_PREVIOUS: file });
    expect(await cli(moved, 'doctor')).to.include('with a previous key');
    expect(await cli(moved, 'secrets', 'rotate')).to.include('Remove SECRET_KEY_PREVIOUS');
    await stopAll();
    const alone = await start({ SECRET_KEY: first });
    await expectAllToWork(alone, member);
    const { code, err } = await alone.cli('secrets', 'rotate');
    expect([code, err.includes('SECRET_KEY_PREVIOUS set to the present one')]).to.deep.equal([1, true]);
  });
});
