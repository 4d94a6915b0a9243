import { expect } from 'chai';
import type { User } from '#plugin-api';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { createSoftwareAuthenticator } from '../users/two-factor/software-authenticator.ts';
import { totpCode } from '../users/two-factor/totp-code.ts';
import { openPages, password, type AdminBrowser, type PageAnswer, type PagesSite } from './pages-site.ts';

const origin = 'https://site.example';
const page = '/admin/profile/two-step';
const step = 30_000;

/** The key that the page shows for the app. */
const keyOn = ({ html }: PageAnswer): string => /data-copy-source>([A-Z2-7 ]+)</.exec(html)?.[1] ?? '';
const codesOn = ({ html }: PageAnswer): string[] =>
  /<pre[^]*?<\/pre>/.exec(html)?.[0].match(/[a-z2-9]{5}-[a-z2-9]{5}/g) ?? [];

describeSharedHosts('the page of two-step sign-in', (dialect) => {
  const shared = shareSite(() => openPages(dialect, { SITE_URL: origin }));
  let site: PagesSite;
  let ada: User;
  let browser: AdminBrowser;
  beforeEach(async () => {
    site = shared();
    ada = await site.create({ login: 'ada', role: 'administrator' });
    browser = await site.signIn('ada');
  });

  /** Sends a form of a page that came with a POST. */
  async function send(shown: PageAnswer, action: string, fields: Record<string, string>): Promise<PageAnswer> {
    const nonce = /name="_nonce" value="([^"]+)"/.exec(shown.html.slice(shown.html.indexOf('<main')))?.[1] ?? '';
    return browser.post(`${page}?action=${action}`, { ...fields, _nonce: nonce });
  }

  async function setUpApp(): Promise<{ secret: string; codes: string[]; answer: PageAnswer }> {
    const shown = await browser.submit(page, 'set-up-app');
    const secret = keyOn(shown);
    const answer = await send(shown, 'confirm-app', { code: totpCode(secret, site.host.clock.now()) });
    site.host.clock.jump(step);
    return { secret, answer, codes: codesOn(answer) };
  }

  it('sets up an app with a code from it, shows ten recovery codes once, and signs out other browsers', async () => {
    const other = await site.signIn('ada');
    const shown = await browser.submit(page, 'set-up-app');
    expect(shown.html).to.contain('src="data:image/svg+xml;base64,').and.contain('otpauth://totp/');
    const wrong = await send(shown, 'confirm-app', { code: '000000' });
    expect([wrong.status, keyOn(wrong)]).to.deep.equal([400, keyOn(shown)]);
    expect(wrong.text).to.contain('Incorrect code.');
    const { answer, codes } = await setUpApp();
    expect(codes).to.have.length(10);
    expect(answer.html).to.contain('download="recovery-codes.txt"');
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const after = await browser.get(page);
    expect(after.text).to.contain('10 unused codes left').and.contain('On since');
    expect(codesOn(after)).to.deep.equal([]);
    expect((await browser.get('/admin/profile')).text).to.contain('With authenticator app.');
    expect((await other.get('/admin/profile')).status).to.equal(302);
    const again = await browser.post(`${page}?action=set-up-app`, {});
    expect(again.status, 'without nonce').to.equal(403);
  });

  it('generates new recovery codes and turns the app off', async () => {
    const { codes } = await setUpApp();
    const fresh = codesOn(await browser.submit(page, 'recovery-codes'));
    expect([fresh.length, fresh.some((code) => codes.includes(code))]).to.deep.equal([10, false]);
    expect((await browser.submit(page, 'turn-off-app')).text).to.contain('Authenticator app turned off.');
    expect((await browser.get(page)).text).not.to.contain('unused codes');
  });

  it('adds, renames and removes a passkey', async () => {
    const host = { host: 'site.example' };
    expect((await browser.get(page)).text).to.contain(`Open ${origin}${page} to add one`);
    const { html: overview } = await browser.get(page);
    const nonce = /name="_nonce" value="([^"]+)"/.exec(overview.slice(overview.indexOf('<main')))?.[1] ?? '';
    const shown = await browser.post(`${page}?action=new-passkey`, { name: 'Laptop', _nonce: nonce }, host);
    const text = /data-options="([^"]+)"/.exec(shown.html)?.[1] ?? '';
    const request = JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')) as {
      options: never;
      challenge: string;
    };
    const device = createSoftwareAuthenticator(origin);
    const added = await send(shown, 'add-passkey', {
      name: 'Laptop',
      challenge: request.challenge,
      credential: device.create(request.options),
    });
    expect(codesOn(added)).to.have.length(10);
    expect((await browser.submit(page, 'rename-passkey', { id: device.id, name: '' })).status).to.equal(400);
    await browser.submit(page, 'rename-passkey', { id: device.id, name: 'Desk' });
    expect((await browser.get(page)).html).to.contain('value="Desk"');
    expect((await browser.get('/admin/profile')).text).to.contain('With 1 passkey.');
    expect((await browser.submit(page, 'remove-passkey', { id: device.id })).text).to.contain('Passkey removed.');
  });

  it('asks for the password again ten minutes after sign-in', async () => {
    const { codes } = await setUpApp();
    site.host.clock.jump(11 * 60_000);
    for (const action of ['recovery-codes', 'turn-off-app']) {
      const asked = await browser.submit(page, action);
      expect([asked.status, asked.text.includes('Confirm your password')], action).to.deep.equal([403, true]);
    }
    expect((await browser.get(page)).text).to.contain('10 unused codes left');
    expect(codes).to.have.length(10);
  });

  it('is all that opens for a role that requires two-step sign-in, until it is set up', async () => {
    await site.create({ login: 'root', role: 'administrator' });
    const root = await site.signIn('root');
    const saved = await root.submit('/admin/settings', 'save', { 'settings[two_factor_roles][]': 'administrator' });
    expect(saved.status).to.equal(302);
    const rest = async (init: RequestInit) => (await site.host.fetch('/wp-json/wp/v2/users/me', init)).status;
    for (const path of ['/admin/', '/admin/users', '/admin/profile', '/admin/setup/choice', '/admin/settings']) {
      const answer = await browser.get(path);
      expect([answer.status, answer.location], path).to.satisfy(
        ([status, location]: [number, string]) =>
          status === 302 && (location === page || location.startsWith('/admin/login')),
      );
    }
    expect((await browser.get('/admin/rest-nonce')).status).to.equal(403);
    const shown = await browser.get(page);
    expect(shown.text).to.contain('Your role requires two-step sign-in.');
    expect(shown.html).not.to.contain('href="/admin/users"');
    expect(await rest({ headers: { 'x-wp-nonce': 'x' } })).to.equal(403);
    const { answer } = await setUpApp();
    expect(answer.status).to.equal(200);
    expect((await browser.get('/admin/users')).status).to.equal(200);
    const kept = await browser.submit(page, 'turn-off-app');
    expect(kept.text).to.contain('Set up another method before you remove this one.');
    await site.create({ login: 'eve', role: 'editor' });
    expect((await (await site.signIn('eve')).get('/admin/profile')).status).to.equal(200);
  });

  it('is reset for another user by an administrator, and by the command line', async () => {
    const bob = await site.create({ login: 'bob', role: 'editor' });
    const bobs = browser;
    browser = await site.signIn('bob');
    await setUpApp();
    const signedIn = browser;
    browser = bobs;
    const edit = `/admin/users/edit?id=${bob.id}`;
    expect((await browser.get(edit)).text).to.contain('With authenticator app.');
    expect((await browser.submit(edit, 'reset-two-step', { id: String(bob.id) })).text).to.contain(
      'Two-step sign-in of bob reset.',
    );
    expect((await browser.get(edit)).text).to.contain('Not set up.');
    expect((await signedIn.get('/admin/profile')).status).to.equal(302);
    await setUpApp();
    const { code, out } = await site.host.cli('user', 'two-factor', 'reset', 'ada', '--json');
    expect([code, JSON.parse(out)]).to.deep.equal([0, { id: ada.id, login: 'ada', reset: true }]);
    expect((await site.open().post('/admin/login', { login: 'ada', password })).location).to.equal('/admin/');
    expect((await site.host.cli('user', 'two-factor', 'reset', 'nobody')).err).to.contain(
      "User 'nobody' does not exist.",
    );
  });
});
