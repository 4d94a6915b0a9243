import { expect } from 'chai';
import type { SMTPServerOptions } from 'smtp-server';
import type { MailMessage } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { createGuardedSocket } from '../../host/http/guarded-socket.ts';
import { checkMessage } from '../../host/mail/check-message.ts';
import { sendBySmtp } from '../../host/mail/smtp.ts';
import type { SmtpServer } from '../../host/mail/smtp-settings.ts';
import { makeCertificate } from '../helpers/certificate.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { startSmtpReceiver, type SmtpReceiver } from '../helpers/smtp-receiver.ts';

const message: MailMessage = { to: 'bob@example.com', subject: 'Grüße', text: 'Hello.\n', html: '<p>Hello.</p>' };
const names: Readonly<Record<string, string>> = {
  localhost: '127.0.0.1',
  'metadata.example': '169.254.169.254',
  'link-local.example': 'fe80::1',
};
const connect = createGuardedSocket({
  clock: createSystemClock(),
  resolve: async (name) => (names[name] === undefined ? Promise.reject(new Error('no such name')) : [names[name]]),
});

describe('sending by SMTP', () => {
  let receiver: SmtpReceiver;
  const certificate = makeCertificate();
  afterEach(() => receiver.stop());

  const send = (server: Partial<SmtpServer>, password: string | null = null, given = message) =>
    sendBySmtp({
      settings: {
        server: {
          host: 'localhost',
          port: receiver.port,
          security: 'none',
          user: '',
          fromName: '',
          fromEmail: 'site@example.com',
          ...server,
        },
        password,
      },
      message: checkMessage(given),
      fromName: 'My site',
      clientName: 'site.example',
      connect,
      signal: new AbortController().signal,
      ca: certificate.cert,
    });

  it('delivers text and HTML, and returns the reply of the server', async () => {
    receiver = await startSmtpReceiver();
    const { reply } = await send({}, null, { ...message, to: ['bob@example.com', 'eve@example.com'] });
    expect(reply).to.match(/^250 .*stored as 7/);
    const [mail] = receiver.mails;
    expect(mail).to.deep.include({
      from: 'site@example.com',
      to: ['bob@example.com', 'eve@example.com'],
      subject: 'Grüße',
      text: 'Hello.',
      html: '<p>Hello.</p>',
      isSecure: false,
    });
    expect(mail?.headers['from']).to.equal('My site <site@example.com>');
  });

  it('upgrades to TLS before it signs in, and refuses a server without STARTTLS', async () => {
    const onAuth: SMTPServerOptions['onAuth'] = ({ username, password }, _session, done) =>
      password === 'right-password' ? done(null, { user: username ?? '' }) : done(new Error(`No, not ${password}`));
    receiver = await startSmtpReceiver({ ...certificate, disabledCommands: [], authOptional: false, onAuth });
    await send({ security: 'starttls', user: 'mailer' }, 'right-password');
    expect(receiver.mails[0]).to.include({ isSecure: true, user: 'mailer' });
    const refused = await failureOf(send({ security: 'starttls', user: 'mailer' }, 'wrong-password'));
    expect(refused).to.include({ code: 'mail_failed' });
    expect((refused as Error).message).to.match(/refused the user name or the password: 535 .*\[redacted\]/);
    expect(receiver.mails).to.have.length(1);
    await receiver.stop();
    receiver = await startSmtpReceiver();
    const plain = await failureOf(send({ security: 'starttls' }));
    expect((plain as Error).message).to.contain('could not be encrypted');
    expect(receiver.mails).to.have.length(0);
  });

  it('uses TLS from the start, and refuses a certificate of another name', async () => {
    receiver = await startSmtpReceiver({ ...certificate, secure: true });
    await send({ security: 'tls' });
    expect(receiver.mails[0]?.isSecure).to.equal(true);
    const other = await failureOf(send({ security: 'tls', host: '127.0.0.1' }));
    expect(other).to.include({ code: 'mail_failed' });
    expect(receiver.mails).to.have.length(1);
  });

  it('distinguishes mail that is refused for good from what may succeed later', async () => {
    receiver = await startSmtpReceiver();
    receiver.refusal = { code: 550, text: 'No such mailbox' };
    expect(await failureOf(send({}))).to.include({
      code: 'mail_rejected',
      message: 'The mail server refused the mail: 550 No such mailbox',
    });
    receiver.refusal = { code: 451, text: 'Try again later' };
    expect(await failureOf(send({}))).to.include({
      code: 'mail_failed',
      message: 'The mail was not sent. 451 Try again later',
    });
    await receiver.stop();
    expect(await failureOf(send({}))).to.include({ code: 'mail_failed' });
  });

  it('never connects to metadata services and link-local addresses', async () => {
    receiver = await startSmtpReceiver();
    for (const host of ['metadata.example', 'link-local.example', '169.254.169.254', 'fe80::1'])
      expect(String(await failureOf(send({ host })))).to.match(/cloud metadata service|not a public address/);
    expect(String(await failureOf(send({ host: 'absent.example' })))).to.contain('cannot be resolved');
    expect(receiver.connections()).to.equal(0);
  });

  it('refuses line breaks and several addresses where they would change the headers', async () => {
    receiver = await startSmtpReceiver();
    for (const bad of [
      { to: 'bob@example.com\r\nBcc: eve@example.com' },
      { to: 'bob@example.com, eve@example.com' },
      { to: 'Bob <bob@example.com>' },
      { to: [] },
      { to: Array.from({ length: 51 }, (_, index) => `b${index}@example.com`) },
      { subject: 'Hello\r\nBcc: eve@example.com' },
      { subject: 'Hello\u0000' },
      { subject: ' ' },
      { text: '' },
      { replyTo: 'a@b.example\nX: y' },
    ])
      expect(() => checkMessage({ ...message, ...bad }), JSON.stringify(bad))
        .to.throw()
        .with.property('code', 'mail_invalid');
  });
});
