import { expect } from 'chai';
import type { User } from '#plugin-api';
import type { TestHost } from '#testing';
import { describeHosts } from '../helpers/dialects.ts';
import { startSmtpReceiver, type SmtpReceiver } from '../helpers/smtp-receiver.ts';
import { openPages, password, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';

const chosen = 'seven purple kettles sing';
const minute = 60_000;

describeHosts('links to choose a password', (dialectCase) => {
  let site: PagesSite;
  let host: TestHost;
  let receiver: SmtpReceiver;
  let ada: User;
  let visitor: AdminBrowser;

  beforeEach(async () => {
    receiver = await startSmtpReceiver();
    site = await openPages(dialectCase);
    host = site.host;
    ada = await site.create({ login: 'ada', displayName: 'Ada <b>L</b>', role: 'administrator' });
    visitor = site.open();
    await setUpMail();
  });
  afterEach(async () => {
    await host.stop();
    await receiver.stop();
  });

  const setUpMail = () =>
    host.mail.settings.save({
      host: '127.0.0.1',
      port: receiver.port,
      security: 'none',
      from_email: 'site@example.com',
    });
  const settled = async (): Promise<void> => {
    await host.accounts.passwords.settled();
    await host.mail.settled();
  };
  const requestReset = async (login: string) => {
    const page = await visitor.post('/admin/forgot-password', { login });
    await settled();
    return page;
  };
  const tokenOf = (link: string): string => new URL(link).searchParams.get('token') ?? '';
  const requestToken = async (login = 'ada'): Promise<string> => {
    await requestReset(login);
    return tokenOf(receiver.mails.at(-1)?.link ?? '');
  };
  const choose = (token: string, typed = chosen, again = typed) =>
    visitor.post('/admin/set-password', { token, password: typed, password_again: again });

  it('are mailed, work once, end all sessions and are reported to the owner', async () => {
    const browser = await site.signIn('ada');
    const page = await requestReset('ADA@example.com');
    expect([page.status, page.text.includes('a link is on its way')]).to.deep.equal([200, true]);
    const [mail] = receiver.mails;
    expect(mail?.to).to.deep.equal(['ada@example.com']);
    expect(mail?.link).to.match(new RegExp(`^${host.url}/admin/set-password\\?token=[\\w-]{43}$`));
    expect(mail?.text).to.contain('Hello Ada <b>L</b>,').and.contain('within 1 hour');
    expect(mail?.html)
      .to.contain('Hello Ada &lt;b&gt;L&lt;/b&gt;,')
      .and.contain(`<a href="${host.url}/admin/set-password`);
    const token = tokenOf(mail?.link ?? '');
    expect(JSON.stringify(await host.database.knex('password_links').select('*'))).not.to.contain(token);
    const form = await visitor.get(`/admin/set-password?token=${token}`);
    expect([form.status, form.headers.get('referrer-policy')]).to.deep.equal([200, 'no-referrer']);
    expect((await choose(token, chosen, 'other')).text).to.contain('The passwords do not match.');
    expect((await choose(token, 'short')).status).to.equal(400);
    const done = await choose(token);
    expect([done.status, done.location]).to.deep.equal([303, '/admin/login?password-set']);
    expect((await browser.get('/admin/')).status).to.equal(302);
    expect(await host.users.verify('ada', chosen)).not.to.equal(null);
    expect(await host.users.verify('ada', password)).to.equal(null);
    for (const used of [
      await choose(token, 'another good password'),
      await visitor.get(`/admin/set-password?token=${token}`),
    ])
      expect([used.status, used.text.includes('This link is void')]).to.deep.equal([403, true]);
    await settled();
    expect(receiver.mails.at(-1)?.subject).to.equal('Your password for My site was changed');
  });

  it('are redeemed by one of several parallel callers', async () => {
    const token = await requestToken();
    const statuses = (await Promise.all([1, 2, 3].map((index) => choose(token, `${chosen} ${index}`)))).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).to.deep.equal([303, 403, 403]);
  });

  it('are void after an hour', async () => {
    const token = await requestToken();
    host.clock.jump(60 * minute - 1);
    expect((await visitor.get(`/admin/set-password?token=${token}`)).status).to.equal(200);
    host.clock.jump(1);
    expect((await choose(token)).status).to.equal(403);
    expect(await host.users.verify('ada', password)).not.to.equal(null);
  });

  it('are void after the password or the email address changed, and after another link was used', async () => {
    const [first, second] = [await requestToken(), await requestToken()];
    await choose(first);
    expect((await choose(second)).status).to.equal(403);
    const third = await requestToken();
    await host.users.setPassword(ada.id, password);
    expect((await choose(third)).status).to.equal(403);
    await settled();
    host.clock.jump(61 * minute);
    const fourth = await requestToken();
    await host.users.update(ada.id, { email: 'new@example.com' });
    expect((await choose(fourth)).status).to.equal(403);
    await settled();
    const [toOld] = receiver.mails.slice(-1);
    expect([toOld?.to, toOld?.subject]).to.deep.equal([
      ['ada@example.com'],
      'Your email address for My site was changed',
    ]);
  });

  it('do not reveal which accounts exist, and wait for no mail server', async () => {
    const known = await requestReset('ada');
    const before = receiver.connections();
    const unknown = await requestReset('nobody@example.com');
    expect(receiver.connections()).to.equal(before);
    expect([known.status, known.html]).to.deep.equal([unknown.status, unknown.html]);
    const calls: string[] = [];
    host.hooks.addFilter('pre_wp_mail', () => new Promise(() => calls.push('mail never ends')));
    const waiting = await visitor.post('/admin/forgot-password', { login: 'ada' });
    expect(waiting.html).to.equal(known.html);
    host.hooks.removeAllFilters('pre_wp_mail');
  });

  it('are limited per account, and requests per address', async () => {
    for (let count = 0; count < 5; count += 1) expect((await requestReset('ada')).status).to.equal(200);
    expect(receiver.mails).to.have.length(3);
    for (let count = 0; count < 15; count += 1) await visitor.post('/admin/forgot-password', { login: `x${count}` });
    const limited = await visitor.post('/admin/forgot-password', { login: 'nobody' });
    expect([limited.status, limited.text.includes('Too many requests. Try again in 15 minutes.')]).to.deep.equal([
      429,
      true,
    ]);
    host.clock.jump(61 * minute);
    await requestReset('ada');
    expect(receiver.mails).to.have.length(4);
  });

  it('are not sent for a form of another site, and name the site alone', async () => {
    const cross = await visitor.post('/admin/forgot-password', { login: 'ada' }, { origin: 'https://evil.example' });
    expect(cross.status).to.equal(403);
    await visitor.post('/admin/forgot-password', { login: 'ada' }, { 'x-forwarded-host': 'evil.example' });
    await settled();
    expect(receiver.mails).to.have.length(1);
    expect(receiver.mails[0]?.raw).not.to.contain('evil.example');
  });

  it('name a contact and the command while the site cannot send mail', async () => {
    await host.mail.settings.remove();
    await host.options.update('account_contact', 'it@example.com');
    const page = await visitor.get('/admin/forgot-password');
    expect(page.text).to.contain('it@example.com').and.contain('npm run cli -- user set-password');
    expect(page.html).not.to.contain('<form');
    expect((await visitor.post('/admin/forgot-password', { login: 'ada' })).status).to.equal(503);
    expect((await visitor.get('/admin/login')).html).to.contain('/admin/forgot-password');
  });

  it('invite new users, and are resent and revoked', async () => {
    const browser = await site.signIn('ada');
    const form = { login: 'bob', email: 'bob@example.com', role: 'editor', invite: '1' };
    const both = await browser.submit('/admin/users/new', 'create', { ...form, password });
    expect(both.text).to.contain('Leave this empty');
    const added = await browser.submit('/admin/users/new', 'create', form);
    expect(added.text).to.contain('An invitation was sent to bob@example.com.');
    await settled();
    const [mail] = receiver.mails;
    expect([mail?.to, mail?.subject]).to.deep.equal([['bob@example.com'], 'Your invitation to My site']);
    expect(mail?.text).to.contain('within 7 days').and.contain('bob');
    const bob = (await host.users.find('bob'))!;
    const path = `/admin/users/edit?id=${bob.id}`;
    expect((await browser.get(path)).text).to.contain('Resend invitation');
    await browser.submit(path, 'invite', { id: String(bob.id) });
    await settled();
    const token = tokenOf(receiver.mails[1]?.link ?? '');
    expect((await visitor.get(`/admin/set-password?token=${tokenOf(mail?.link ?? '')}`)).status).to.equal(403);
    await browser.submit(path, 'revoke-invitation', { id: String(bob.id) });
    expect((await visitor.get(`/admin/set-password?token=${token}`)).status).to.equal(403);
    expect((await browser.get(path)).text).not.to.contain('Resend invitation');

    const { code, out } = await host.cli('user', 'invite', 'eve', 'eve@example.com', '--role=author');
    expect([code, out.includes('eve')]).to.deep.equal([0, true]);
    await settled();
    const invitation = tokenOf(receiver.mails.at(-1)?.link ?? '');
    host.clock.jump(6 * 24 * 60 * minute);
    expect((await choose(invitation)).status).to.equal(303);
    expect((await host.users.verify('eve', chosen))?.roles).to.deep.equal(['author']);
    expect((await host.cli('user', 'revoke-invitation', 'eve')).out).to.contain('no open invitation');
  });

  it('are captured by the sandbox and shown, so that no mail leaves', async () => {
    await host.stop();
    site = await openPages(dialectCase, {}, { plugins: ['svc', 'sandbox'] });
    host = site.host;
    visitor = site.open();
    await host.options.update('svc_sandbox', true);
    await requestReset('ada');
    const page = await (await site.signIn('ada')).get('/admin/sandbox');
    expect(page.text).to.contain('Reset your password for My site');
    const token = /set-password\?token=([\w-]{43})/.exec(page.text)?.[1] ?? '';
    expect((await choose(token)).status).to.equal(303);
    expect(receiver.connections()).to.equal(0);
  });

  it('are offered to an owner whose sign-in is throttled', async () => {
    for (let count = 0; count < 10; count += 1)
      await visitor.post('/admin/login', { login: 'ada', password: `wrong ${count}` });
    const mail = await receiver.next(1);
    expect(mail.subject).to.equal('Many failed sign-ins for your account at My site');
    expect(mail.text).to.contain('10 times').and.contain(`${host.url}/admin/forgot-password`);
    await settled();
  });

  it('are not the only change that is reported: application passwords are, too', async () => {
    const browser = await site.signIn('ada');
    await browser.submit('/admin/profile', 'create-password', { name: 'backup script' });
    await settled();
    expect(receiver.mails[0]?.subject).to.equal('A new application password for My site');
    expect(receiver.mails[0]?.text).to.contain('"backup script"');
  });
});
