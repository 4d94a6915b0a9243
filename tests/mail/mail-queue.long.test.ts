import { expect } from 'chai';
import type { MailMessage } from '#plugin-api';
import { createTestHost, type TestHost } from '#testing';
import { migrations } from '../../host/mail/migrations.ts';
import { mailOption } from '../../host/mail/smtp-settings.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { createBrowser } from '../pages/pages-site.ts';
import { startSmtpReceiver, type SmtpReceiver } from '../helpers/smtp-receiver.ts';

const message: MailMessage = {
  to: 'bob@example.com',
  subject: 'A link',
  text: 'https://site.example/set-password?token=secret-of-bob\n',
};
const minute = 60_000;

describeHosts('mail of a site', ({ location }) => {
  let host: TestHost;
  let receiver: SmtpReceiver;
  const open = (env: Readonly<Record<string, string>> = {}): Promise<TestHost> => {
    const { databaseUrl, dataDir } = location();
    return createTestHost({ database: databaseUrl ?? dataDir, env });
  };
  const keys = { one: 'a'.repeat(64), two: 'b'.repeat(64) };
  const setUp = (given: Readonly<Record<string, unknown>> = {}) =>
    host.mail.settings.save({
      host: '127.0.0.1',
      port: receiver.port,
      security: 'none',
      user: '',
      from_name: '',
      from_email: 'site@example.com',
      ...given,
    });
  const rows = (): Promise<Record<string, unknown>[]> => host.database.knex('mails').select('*');
  const waiting = () => host.jobs.list({ name: 'mail', state: 'waiting' });
  /** Lets the time pass, for the jobs too, and runs those that are due. */
  const pass = async (milliseconds: number): Promise<void> => {
    host.clock.jump(milliseconds);
    const { knex } = host.database;
    await knex('jobs')
      .where({ name: 'mail', state: 'waiting' })
      .update({ due_at: knex.raw('due_at - ?', [milliseconds]) });
    await host.jobs.drain();
  };
  const logged = (event: string): string[] => host.logged.filter((line) => line.includes(`"${event}"`));

  beforeEach(async () => {
    receiver = await startSmtpReceiver();
    host = await open();
  });
  afterEach(async () => {
    await host.stop();
    await receiver.stop();
  });

  it('is not available before a server is set up', async () => {
    expect(await host.mail.isAvailable()).to.equal(false);
    expect(await failureOf(host.mail.send(message))).to.include({ code: 'mail_unavailable', status: 503 });
    await setUp();
    expect(await host.mail.isAvailable()).to.equal(true);
    expect((await host.mail.send(message)).reply).to.match(/^250/);
    expect(receiver.mails[0]?.headers['from']).to.equal('My site <site@example.com>');
  });

  it('is sent in the background, and leaves nothing behind', async () => {
    await setUp();
    await host.mail.queue(message);
    expect((await receiver.next(1)).text).to.contain('secret-of-bob');
    await host.mail.settled();
    expect(await rows()).to.deep.equal([]);
    expect(await waiting()).to.deep.equal([]);
  });

  it('is stored encrypted and retried by another node after an error', async () => {
    await setUp();
    receiver.refusal = { code: 451, text: 'Try again later' };
    await host.mail.queue(message);
    await host.mail.settled();
    const [row] = await rows();
    expect(JSON.stringify(row)).not.to.contain('secret-of-bob');
    expect(row).to.include({ state: 'waiting', attempts: 1, subject: 'A link' });
    expect(row?.['last_error']).to.contain('451 Try again later');
    expect(logged('mail_attempt_failed')).to.have.length(1);
    await host.stop();

    host = await open();
    receiver.refusal = null;
    await pass(minute / 2);
    expect(receiver.mails).to.have.length(0);
    await pass(minute / 2);
    expect(receiver.mails).to.have.length(1);
    expect(await rows()).to.deep.equal([]);
  });

  it('is given up after six attempts, with a log line, and stays encrypted for 30 days', async () => {
    await setUp();
    receiver.refusal = { code: 451, text: 'Try again later' };
    await host.mail.queue(message);
    await host.mail.settled();
    for (const minutes of [1, 5, 15, 60, 240, 240]) await pass(minutes * minute);
    expect((await rows())[0]).to.include({ state: 'failed', attempts: 6 });
    expect(JSON.stringify(await rows())).not.to.contain('secret-of-bob');
    expect(logged('mail_given_up')).to.have.length(1);
    expect(await waiting()).to.deep.equal([]);
    host.clock.jump(31 * 24 * 60 * minute);
    receiver.refusal = null;
    await host.mail.queue(message);
    await host.mail.settled();
    expect(await rows()).to.deep.equal([]);
  });

  it('is not retried when the server refuses it for good, or after it expired', async () => {
    await setUp();
    receiver.refusal = { code: 550, text: 'No such mailbox' };
    await host.mail.queue(message);
    await host.mail.settled();
    expect((await rows())[0]).to.include({ state: 'failed', attempts: 1 });
    await host.database.knex('mails').delete();
    receiver.refusal = { code: 451, text: 'Try again later' };
    await host.mail.queue(message, { expiresAt: host.clock.now() + 30_000 });
    await host.mail.settled();
    receiver.refusal = null;
    await pass(minute);
    expect((await rows())[0]).to.include({ state: 'failed' });
    expect((await rows())[0]).to.include({ sealed: '' });
    expect((await rows())[0]?.['last_error']).to.contain('expired');
    expect(await host.mail.retry(String((await rows())[0]?.['id']))).to.equal(false);
    expect(receiver.mails).to.have.length(0);
  });

  it('is not retried when it is invalid', async () => {
    await setUp();
    host.hooks.addFilter('wp_mail', (mail) => ({ ...mail, subject: 'a\r\nBcc: eve@example.com' }));
    await host.mail.queue(message);
    await host.mail.settled();
    expect((await rows())[0]).to.include({ state: 'failed', attempts: 1 });
    expect(await waiting()).to.deep.equal([]);
    expect(receiver.mails).to.have.length(0);
  });

  it('is sent after all or deleted by an administrator when it has failed', async () => {
    await setUp();
    receiver.refusal = { code: 550, text: 'Sender refused' };
    await host.mail.queue(message);
    await host.mail.queue({ ...message, subject: 'Another' });
    await host.mail.settled();
    await host.users.create({
      login: 'ada',
      email: 'ada@example.com',
      password: 'correct horse battery',
      role: 'administrator',
    });
    const browser = createBrowser(host);
    await browser.post('/admin/login', { login: 'ada', password: 'correct horse battery' });
    const act = async (action: string, subject: string) => {
      const id = (await rows()).find((row) => row['subject'] === subject)?.['id'];
      return browser.submit('/admin/settings/mail', action, { id: String(id) });
    };
    expect((await act('delete', 'Another')).text)
      .to.contain('Mail deleted.')
      .and.not.contain('Another');
    receiver.refusal = null;
    expect((await act('retry', 'A link')).text).to.contain('The mail is sent again.');
    await host.mail.settled();
    expect([await rows(), receiver.mails.length]).to.deep.equal([[], 1]);
    expect(receiver.mails[0]?.text).to.contain('secret-of-bob');
    expect(await waiting()).to.deep.equal([]);
  });

  it('waits for its secret key without using up attempts, is sent when it is back, or is said to be lost', async () => {
    const restart = async (key: string): Promise<void> => {
      await host.stop();
      host = await open({ SECRET_KEY: key });
    };
    await restart(keys.one);
    await setUp();
    receiver.refusal = { code: 451, text: 'Try again later' };
    await host.mail.queue(message);
    await host.mail.queue({ ...message, subject: 'Another' }, { expiresAt: host.clock.now() + 90 * minute });
    await host.mail.settled();
    receiver.refusal = null;

    await restart(keys.two);
    await setUp();
    await pass(minute);
    expect(receiver.mails).to.deep.equal([]);
    for (const row of await rows()) {
      expect(row).to.include({ state: 'waiting', attempts: 1 });
      expect(row['last_error']).to.contain('The secret key that encrypted this mail is missing.');
    }
    expect(logged('mail_held')).to.have.length(2);
    const doctor = await host.cli('doctor', '--json');
    expect([
      doctor.code,
      `${doctor.out}${doctor.err}`.includes('2 unsent mails wait for the secret key'),
    ]).to.deep.equal([1, true]);
    expect(await waiting()).to.have.length(2);
    await pass(60 * minute);
    expect((await rows()).map(({ attempts }) => attempts)).to.deep.equal([1, 1]);
    await pass(60 * minute);
    const lost = (await rows()).find(({ state }) => state === 'failed');
    expect(lost).to.include({ subject: 'Another', sealed: '' });
    expect(lost?.['last_error']).to.contain('Its text is lost.');
    await host.mail.queue({ ...message, subject: 'New' });
    await receiver.next(1);
    await host.mail.settled();

    await restart(keys.one);
    await setUp();
    await receiver.next(2);
    await host.mail.settled();
    expect(receiver.mails.map(({ subject }) => subject)).to.deep.equal(['New', 'A link']);
    expect((await rows()).map(({ state }) => state)).to.deep.equal(['failed']);
  });

  it('is sent once when several nodes retry it', async () => {
    await setUp();
    receiver.refusal = { code: 451, text: 'Try again later' };
    await host.mail.queue(message);
    await host.mail.settled();
    receiver.refusal = null;
    const other = await open();
    await host.database.knex('jobs').where({ name: 'mail' }).update({ due_at: 1 });
    await Promise.all([host, other].map((node) => node.jobs.drain()));
    await other.stop();
    expect(receiver.mails).to.have.length(1);
  });

  it('is sent by a node that runs no jobs', async () => {
    await host.stop();
    host = await open({ ROLE: 'web' });
    await setUp();
    await host.mail.queue(message);
    await host.mail.settled();
    expect([receiver.mails.length, await rows()]).to.deep.equal([1, []]);
  });

  it('fails when its job is cancelled, and is sent when the job runs again', async () => {
    await setUp();
    receiver.refusal = { code: 451, text: 'Try again later' };
    await host.mail.queue(message);
    await host.mail.settled();
    expect(await host.jobs.cancel({ name: 'mail' })).to.equal(1);
    expect((await rows())[0]).to.include({ state: 'failed', last_error: 'It was cancelled.' });
    receiver.refusal = null;
    expect(await host.jobs.retry({ name: 'mail' })).to.equal(true);
    await host.jobs.drain();
    expect([receiver.mails.length, await rows()]).to.deep.equal([1, []]);
  });

  it('keeps its attempts when the node stops during one', async () => {
    await setUp();
    let end: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => {
      end = resolve;
    });
    host.hooks.addFilter('pre_wp_mail', async () => {
      await stopped;
      throw new Error('The node stops.');
    });
    await host.mail.queue(message);
    expect((await host.jobs.list({ name: 'mail' }))[0]?.state).to.equal('running');
    await host.jobs.stop();
    end();
    await host.stop();
    host = await open();
    await receiver.next(1);
    await host.mail.settled();
    expect(logged('mail_sent').map((line) => (JSON.parse(line) as { attempt: number }).attempt)).to.deep.equal([1]);
  });

  it('is not tried again when it ended the process at its last attempt', async () => {
    await setUp();
    receiver.refusal = { code: 451, text: 'Try again later' };
    await host.mail.queue(message);
    await host.mail.settled();
    await host.database.knex('mails').update({ attempts: 6 });
    receiver.refusal = null;
    await pass(minute);
    expect((await rows())[0]).to.include({ state: 'failed', attempts: 6 });
    expect(receiver.mails).to.deep.equal([]);
  });

  it('of a site from before jobs is sent when it was due', async () => {
    await setUp();
    receiver.refusal = { code: 451, text: 'Try again later' };
    await host.mail.queue(message);
    await host.mail.settled();
    receiver.refusal = null;
    const { knex } = host.database;
    await knex('jobs').where({ name: 'mail' }).delete();
    const [row] = await rows();
    const dueAt = Date.now() + 5 * minute;
    await knex('mails').update({ next_attempt_at: dueAt });
    await host.cron.scheduleSingle(dueAt, 'mail_retry', [row?.['id']]);
    await migrations.find(({ id }) => id === '0032_mail_jobs')?.up(knex, { dialect: host.database.dialect });
    expect(await host.cron.next('mail_retry', [row?.['id']])).to.equal(false);
    expect((await waiting())[0]).to.include({ key: row?.['id'], dueAt, attempts: 1 });
    await pass(5 * minute);
    expect([receiver.mails.length, await rows()]).to.deep.equal([1, []]);
  });

  it('is not sent when the transaction around it is rolled back', async () => {
    await setUp();
    await failureOf(
      host.database.transaction(async () => {
        await host.mail.queue(message);
        throw new Error('Rolled back.');
      }),
    );
    await host.mail.settled();
    expect(await rows()).to.deep.equal([]);
    expect(receiver.connections()).to.equal(0);
  });

  it('is changed, taken and observed by hooks, whose changes are checked', async () => {
    const seen: unknown[] = [];
    host.hooks.addAction('wp_mail_succeeded', (mail) => void seen.push(['sent', mail]));
    host.hooks.addAction(
      'wp_mail_failed',
      (error, mail) => void seen.push([(error as { code: string }).code, mail.subject]),
    );
    host.hooks.addFilter('wp_mail', (mail) => ({ ...mail, subject: `[Site] ${mail.subject}` }));
    await setUp();
    await host.mail.send(message);
    expect(receiver.mails[0]?.subject).to.equal('[Site] A link');
    const undo = host.hooks.addFilter('wp_mail', (mail) => ({ ...mail, subject: 'a\r\nBcc: eve@example.com' }));
    expect(await failureOf(host.mail.send(message))).to.include({ code: 'mail_invalid' });
    undo();
    host.hooks.addFilter('pre_wp_mail', () => ({ reply: 'Taken.' }));
    expect(await host.mail.send(message)).to.deep.equal({ reply: 'Taken.' });
    expect(receiver.mails).to.have.length(1);
    expect(seen).to.deep.equal([
      ['sent', { to: ['bob@example.com'], subject: 'A link' }],
      ['mail_invalid', 'A link'],
      ['sent', { to: ['bob@example.com'], subject: 'A link' }],
    ]);
  });

  it('never sends a saved password to another server, port or protocol', async () => {
    await setUp({ user: 'mailer', password: 'right-password' });
    expect(JSON.stringify(await host.options.get(mailOption))).not.to.contain('right-password');
    expect((await host.mail.settings.read())?.password).to.equal('right-password');
    expect(await setUp({ user: 'other' })).to.deep.equal({ passwordDropped: false });
    for (const change of [{ host: 'localhost' }, { port: 2525 }, { security: 'starttls' }]) {
      await setUp({ user: 'mailer', password: 'right-password' });
      expect(await setUp({ user: 'mailer', ...change })).to.deep.equal({ passwordDropped: true });
      expect((await host.mail.settings.read())?.password).to.equal(null);
      await setUp({ user: 'mailer' });
      expect((await host.mail.settings.read())?.password).to.equal(null);
    }
    await setUp({ user: 'mailer', password: 'right-password' });
    const stored = await host.options.get<Record<string, unknown>>(mailOption);
    await host.options.update(mailOption, { ...stored, host: 'evil.example' });
    expect((await host.mail.settings.read())?.password).to.equal(null);
    const passwordFor = `none://evil.example:${receiver.port}`;
    await host.options.update(mailOption, { ...stored, host: 'evil.example', passwordFor });
    expect((await host.mail.settings.read())?.password).to.equal(null);
    await host.options.update(mailOption, stored);
    expect((await host.mail.settings.read())?.password).to.equal('right-password');
  });

  it('refuses settings that could change a header or a connection', async () => {
    for (const bad of [
      { host: 'a b' },
      { host: 'a\r\nb' },
      { host: '' },
      { port: 0 },
      { port: '25.5' },
      { security: 'maybe' },
      { from_name: 'a\r\nBcc: x@y.example' },
      { from_email: 'Site <site@example.com>' },
      { user: 'a\nb' },
      { password: 'a\nb' },
    ]) {
      const error = (await failureOf(setUp(bad))) as { data: { params: object } };
      expect(Object.keys(error.data.params), JSON.stringify(bad)).to.deep.equal(Object.keys(bad));
    }
    expect(await host.mail.settings.read()).to.equal(null);
  });
});
