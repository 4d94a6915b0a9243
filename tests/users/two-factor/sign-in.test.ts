import { expect } from 'chai';
import type { User } from '#plugin-api';
import { describeSharedHosts, type DialectCase } from '../../helpers/dialects.ts';
import { shareSite } from '../../helpers/share-site.ts';
import { openPages, password, type AdminBrowser, type PagesSite } from '../../pages/pages-site.ts';
import { createSoftwareAuthenticator } from './software-authenticator.ts';
import { totpCode } from './totp-code.ts';

const step = 30_000;
const origin = 'https://site.example';

type Options = Parameters<ReturnType<typeof createSoftwareAuthenticator>['create']>[0];

interface Request {
  readonly options: Options;
  readonly challenge: string;
}

/** The core of a test host is wider than its interface: the tests set up second factors directly. */
interface CoreOfHost {
  readonly twoFactor: import('../../../host/users/two-factor/two-factor.ts').TwoFactor;
}

async function openSite(dialect: DialectCase) {
  const site = await openPages(dialect, { SITE_URL: origin });
  const { twoFactor } = site.host as unknown as CoreOfHost;
  const events: unknown[][] = [];
  for (const name of ['user_signed_in', 'two_factor_failed', 'wp_login'] as const)
    site.host.hooks.addAction(name, (...args: unknown[]) =>
      events.push([name, args[0], ...(name === 'user_signed_in' ? [args[1]] : [])]),
    );
  return { ...site, twoFactor, events };
}

type Site = Awaited<ReturnType<typeof openSite>> & { readonly user: User };

/** Turns on an authenticator app for the user. */
async function addApp({ host, twoFactor }: Pick<Site, 'host' | 'twoFactor'>, user: User) {
  const { secret } = (await twoFactor.beginTotp(user))!;
  const codes = (await twoFactor.confirmTotp(user.id, totpCode(secret, host.clock.now())))!;
  host.clock.jump(step);
  return { codes, code: () => totpCode(secret, host.clock.now()) };
}

async function addPasskey({ twoFactor }: Pick<Site, 'twoFactor'>, user: User) {
  const device = createSoftwareAuthenticator(origin);
  const { options, challenge } = (await twoFactor.requestPasskey(user, 's')) as Request;
  await twoFactor.addPasskey(user, { session: 's', name: 'Laptop', credential: device.create(options), challenge });
  return device;
}

/** A browser that is signed in with a passkey alone. */
async function signInWithPasskey({ open }: Pick<Site, 'open'>, device: ReturnType<typeof createSoftwareAuthenticator>) {
  const browser = open();
  const { options, challenge } = JSON.parse((await browser.post('/admin/login/passkey/options', {})).html) as Request;
  await browser.post('/admin/login/passkey', { credential: device.get(options), challenge });
  return browser;
}

/** A browser in which the password of Ada was entered. */
async function afterPassword({ host, open }: { host: PagesSite['host']; open: () => AdminBrowser }) {
  const browser = open();
  const answer = await browser.post('/admin/login', { login: 'ada', password, to: '/admin/users', remember: '1' });
  return { browser, answer, host };
}

const isSignedIn = async (browser: AdminBrowser): Promise<boolean> =>
  (await browser.get('/admin/users')).status === 200;

describeSharedHosts('sign-in in two steps', (dialect) => {
  const shared = shareSite(() => openSite(dialect));
  let site: Site;
  beforeEach(async () => {
    site = { ...shared(), user: await shared().create({ login: 'ada', role: 'administrator' }) };
    site.events.splice(0);
  });

  const enter = (browser: AdminBrowser, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    browser.post('/admin/login/verify', { to: '/admin/users', ...fields }, headers);

  it('asks for a code after the password, and leads to the wanted page', async () => {
    const { code } = await addApp(site, site.user);
    const { browser, answer } = await afterPassword(site);
    expect([answer.status, answer.location]).to.deep.equal([303, '/admin/login/verify?to=%2Fadmin%2Fusers']);
    expect(answer.headers.getSetCookie().join()).to.match(
      /^svc_sign_in=[\w-]{43}; Path=\/admin\/login; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(await isSignedIn(browser)).to.equal(false);
    expect((await browser.get(answer.location!)).text)
      .to.contain('Signing in as ada')
      .and.contain('authenticator app');
    const wrong = await enter(browser, { code: '000000' });
    expect([wrong.status, wrong.text.includes('Incorrect code.')]).to.deep.equal([401, true]);
    const entered = await enter(browser, { code: code() });
    expect([entered.status, entered.location]).to.deep.equal([303, '/admin/users']);
    expect(entered.headers.getSetCookie().join()).to.match(/svc_session=[\w-]{43}; Path=\/; Max-Age=34560000;/);
    expect(await isSignedIn(browser)).to.equal(true);
    expect(site.events).to.deep.equal([
      ['two_factor_failed', site.user.id],
      ['wp_login', 'ada'],
      ['user_signed_in', site.user.id, 'totp'],
    ]);
  });

  it('works once: the same second step does not open another session', async () => {
    const { code, codes } = await addApp(site, site.user);
    const { browser, answer } = await afterPassword(site);
    const cookie = answer.headers.getSetCookie().join().split(';')[0]!;
    expect((await enter(browser, { code: code() })).location).to.equal('/admin/users');
    const again = await enter(site.open(), { code: codes[0]! }, { cookie });
    expect([again.status, again.location]).to.deep.equal([303, '/admin/login?to=%2Fadmin%2Fusers&expired']);
    expect((await site.open().get(again.location!)).text).to.contain('Your sign-in has expired.');
  });

  it('takes a recovery code once', async () => {
    const { codes } = await addApp(site, site.user);
    expect((await enter((await afterPassword(site)).browser, { code: codes[0]! })).status).to.equal(303);
    expect((await enter((await afterPassword(site)).browser, { code: codes[0]! })).status).to.equal(401);
    expect(site.events.at(-2)).to.deep.equal(['user_signed_in', site.user.id, 'recovery_code']);
  });

  it('takes a passkey as second step', async () => {
    const device = await addPasskey(site, site.user);
    const { browser } = await afterPassword(site);
    const answer = await browser.post('/admin/login/verify/options', {});
    const { options, challenge } = JSON.parse(answer.html) as Request;
    const entered = await enter(browser, { credential: device.get(options), challenge });
    expect([entered.status, entered.location]).to.deep.equal([303, '/admin/users']);
    expect(site.events.at(-1)).to.deep.equal(['user_signed_in', site.user.id, 'passkey']);
  });

  it('is not needed with a passkey alone, which leads to the wanted page too', async () => {
    const device = await addPasskey(site, site.user);
    const browser = site.open();
    expect((await browser.get('/admin/login')).html)
      .to.contain('data-passkey="use"')
      .and.contain('passkeys.js');
    const { options, challenge } = JSON.parse((await browser.post('/admin/login/passkey/options', {})).html) as Request;
    const fields = { credential: device.get(options), challenge, to: '/admin/users', remember: '' };
    const crossSite = await site.open().post('/admin/login/passkey', fields, { 'Sec-Fetch-Site': 'cross-site' });
    expect([crossSite.status, crossSite.headers.getSetCookie()]).to.deep.equal([403, []]);
    const entered = await browser.post('/admin/login/passkey', fields);
    expect([entered.status, entered.location]).to.deep.equal([303, '/admin/users']);
    expect(entered.headers.getSetCookie().join()).not.to.contain('Max-Age');
    expect(await isSignedIn(browser)).to.equal(true);
    const again = await site.open().post('/admin/login/passkey', fields);
    expect([again.status, again.text.includes('The passkey could not be verified.')]).to.deep.equal([401, true]);
    expect((await site.open().post('/admin/login/passkey', { credential: 'x' })).status).to.equal(400);
  });

  it('is refused from another site, without the cookie, after ten minutes, and after a new password', async () => {
    const { code } = await addApp(site, site.user);
    const { browser } = await afterPassword(site);
    for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }])
      expect((await enter(browser, { code: code() }, headers)).status).to.equal(403);
    expect((await enter(site.open(), { code: code() })).location).to.contain('&expired');
    site.host.clock.jump(10 * 60_000);
    expect((await enter(browser, { code: code() })).location).to.contain('&expired');
    const second = (await afterPassword(site)).browser;
    await site.host.users.setPassword(site.user.id, 'quite another long one');
    expect((await enter(second, { code: code() })).location).to.contain('&expired');
    expect((await enter(second, {})).location).to.contain('&expired');
  });

  it('limits codes like passwords and tells plugins: a right password does not start the count again', async () => {
    const { code } = await addApp(site, site.user);
    let browser = (await afterPassword(site)).browser;
    const throttled: unknown[] = [];
    site.host.hooks.addAction('login_throttled', ({ login }, { failures }) => throttled.push([login, failures]));
    const statuses: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      statuses.push((await enter(browser, { code: '000000' })).status);
      browser = (await afterPassword(site)).browser;
    }
    const refused = await enter(browser, { code: code() });
    expect([...new Set(statuses)]).to.deep.equal([401]);
    expect(throttled).to.deep.equal([['ada', 10]]);
    expect(refused.status === 429 || refused.location?.includes('expired')).to.equal(true);
    site.host.clock.jump(60 * 60_000);
    expect((await enter((await afterPassword(site)).browser, { code: code() })).status).to.equal(303);
  });

  it('takes a passkey instead of the password later than ten minutes after the sign-in', async () => {
    const device = await addPasskey(site, site.user);
    const browser = await signInWithPasskey(site, device);
    site.host.clock.jump(10 * 60_000);
    const asked = await browser.submit('/admin/profile', 'create-password', { name: 'script', credential: 'own' });
    expect([asked.status, asked.html.includes('data-prefix="_"')]).to.deep.equal([403, true]);
    expect(asked.html).to.contain('passkeys.js').and.contain('name="credential" value="own"');
    const request = async (): Promise<Request> =>
      JSON.parse((await browser.post('/admin/login/confirm/options', {})).html) as Request;
    const confirm = (fields: Record<string, string>) =>
      browser.submit('/admin/profile', 'create-password', { name: 'script', ...fields });
    const wrong = await request();
    expect((await confirm({ _credential: device.get(wrong.options), _challenge: 'x' })).text).to.contain(
      'The passkey could not be verified.',
    );
    const signIn = JSON.parse((await browser.post('/admin/login/passkey/options', {})).html) as Request;
    const forSignIn = { _credential: device.get(signIn.options), _challenge: signIn.challenge };
    expect((await confirm(forSignIn)).status, 'a challenge of the sign-in').to.equal(403);
    const { options, challenge } = await request();
    const done = await confirm({ _credential: device.get(options), _challenge: challenge });
    expect(done.text).to.contain('Application password for script created.');
    expect((await confirm({})).text, 'the session is fresh').to.contain('Application password for script created.');
    expect((await site.open().post('/admin/login/confirm/options', {})).status).to.equal(401);
    const crossSite = await browser.post('/admin/login/confirm/options', {}, { 'Sec-Fetch-Site': 'cross-site' });
    expect(crossSite.status).to.equal(403);
  });

  it('leaves application passwords alone', async () => {
    await addApp(site, site.user);
    const { createApplicationPasswords } = await import('../../../host/users/application-passwords.ts');
    const { host } = site;
    const passwords = createApplicationPasswords(host);
    const { password } = await passwords.create(site.user.id, 'script');
    const authorization = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
    expect((await host.fetch('/wp-json/wp/v2/users/me', { headers: { authorization } })).status).to.equal(200);
    const own = `Basic ${Buffer.from('ada:correct horse battery').toString('base64')}`;
    expect((await host.fetch('/wp-json/wp/v2/users/me', { headers: { authorization: own } })).status).to.equal(401);
  });
});
