import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { inLanguage, type MailMessage, type User } from '#plugin-api';
import { createTestHost, type TestHost } from '#testing';
import { pseudoLanguage } from '../../host/languages/pseudo.ts';
import { englishTexts } from '../host/english-texts.ts';
import { until } from '../helpers/until.ts';
import { createBrowser, password } from '../pages/pages-site.ts';

const templates = readdirSync(new URL('../../views/mail', import.meta.url)).filter((file) => file !== 'layout.hbs');

describe('mails in the language of their recipient', () => {
  let host: TestHost;
  let mails: MailMessage[] = [];
  before(async () => {
    host = await createTestHost();
    host.hooks.addFilter('wp_mail_available', () => true);
    host.hooks.addFilter('pre_wp_mail', (_receipt, message) => {
      mails.push(message);
      return { reply: '250 OK' };
    });
    await host.options.update('blogname', '42');
  });
  beforeEach(() => {
    mails = [];
  });
  after(() => host.stop());

  const create = (login: string, locale: string, role = 'subscriber'): Promise<User> =>
    host.users.create({ login, email: `${login}@example.com`, password, role, profile: { locale } });

  /** One of every mail that the site sends. */
  async function causeAll({ id }: User): Promise<readonly MailMessage[]> {
    const { accounts, hooks, users } = host;
    const user = (await users.get(id)) as User;
    await accounts.passwords.invite(user);
    accounts.passwords.startReset(user.login);
    await accounts.passwords.settled();
    await users.setPassword(id, `${password} 2`);
    await users.update(id, { email: `0${user.email}` });
    await hooks.doActionAsync('wp_create_application_password', id, '7');
    await hooks.doActionAsync('login_throttled', user, { ip: '192.0.2.1', failures: 10 });
    await accounts.templates.send({ to: user, template: 'test' });
    // The notice of failed sign-ins is not waited for.
    await until('every mail', () => new Set(mails.map(({ subject }) => subject)).size === templates.length);
    return mails;
  }

  it('have no text that bypasses translation', async () => {
    for (const { subject, text, html = '' } of await causeAll(await create('1', 'en_XA'))) {
      expect(subject).to.match(/^⟦.*⟧$/);
      const paragraphs = text.trim().split(/\n{2,}/);
      expect(paragraphs.filter((paragraph) => !/^⟦.*⟧$|^http:\S+$/s.test(paragraph))).to.deep.equal([]);
      expect(englishTexts(html)).to.deep.equal([]);
      expect(html).to.include(' lang="en-XA"');
    }
  });

  it('are German for a user who has chosen it, in whatever language the request runs', async () => {
    const user = await create('2', 'de_DE');
    for (const { subject, text, html } of await inLanguage(pseudoLanguage, () => causeAll(user))) {
      expect(text).to.match(/^Guten Tag 2,\n/);
      expect(subject + text + String(html))
        .to.include(' lang="de-DE"')
        .and.not.include('⟦');
    }
    const texts = mails.map(({ text }) => text).join('\n');
    expect(texts).to.include('der 7 Tage gilt').and.include('der 1 Stunde gilt');
  });

  it('are in the language of the site for others', async () => {
    await host.options.update('WPLANG', 'de_DE');
    try {
      const user = await create('3', '');
      for (const { text } of await inLanguage(pseudoLanguage, () => causeAll(user)))
        expect(text).to.match(/^Guten Tag 3,\n/);
      mails = [];
      for (const { text } of await causeAll(await create('4', 'en_US'))) expect(text).to.match(/^Hello 4,\n/);
    } finally {
      await host.options.update('WPLANG', '');
    }
  });

  it('are German when an administrator who reads English invites a German', async () => {
    await create('5', 'en_US', 'administrator');
    const user = await create('6', 'de_DE');
    await host.accounts.passwords.invite(user);
    const { id } = user;
    const browser = createBrowser(host);
    await browser.post('/admin/login', { login: '5', password });
    await browser.submit(`/admin/users/edit?id=${String(id)}`, 'invite', { id: String(id) });
    await host.mail.settled();
    expect(mails.map(({ subject }) => subject)).to.deep.equal(['Ihre Einladung zu 42', 'Ihre Einladung zu 42']);
  });
});
