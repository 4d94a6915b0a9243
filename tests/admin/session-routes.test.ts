import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';

import { openAdmin, type OpenAdmin } from './open-admin.ts';

describe('signing in and out of the admin', () => {
  let host: OpenAdmin;
  before(async () => {
    host = await openAdmin();
  });
  after(() => host.close());

  it('shows the form to a visitor and sends him back to the page he wanted', async () => {
    const visitor = host.browser();
    const first = await visitor.get('/admin/plugins?tab=all');
    expect(first.status).to.equal(302);
    expect(first.location).to.equal('/admin/login?to=%2Fadmin%2Fplugins%3Ftab%3Dall');
    const form = await visitor.get(first.location!);
    expect(form.text).to.contain('name="to" value="/admin/plugins?tab&#x3D;all"');
    const answer = await visitor.post('/admin/login', {
      login: 'admin',
      password: 'correct horse battery',
      to: '/admin/plugins?tab=all',
    });
    expect([answer.status, answer.location]).to.deep.equal([303, '/admin/plugins?tab=all']);
    expect((await visitor.get('/admin/plugins?tab=all')).status).to.equal(200);
  });

  it('leads from a form whose session has ended back to what it edits, and to no other site', async () => {
    const visitor = host.browser();
    for (const [referer, wanted] of [
      ['https://site.example/admin/posts/edit?id=25', '/admin/posts/edit?id=25'],
      ['https://evil.example/posts?id=25', '/admin/plugins'],
      ['https://evil.example//evil.example/admin', '/admin/plugins'],
      ['https://site.example/admin/logout', '/admin/plugins'],
      ['no address', '/admin/plugins'],
      ['', '/admin/plugins'],
    ] as const) {
      const { status, location } = await visitor.post('/admin/plugins?action=save', {}, { referer });
      expect([status, location], referer).to.deep.equal([302, `/admin/login?to=${encodeURIComponent(wanted)}`]);
    }
  });

  it('refuses a wrong password and an unknown name with the same words, and keeps the name', async () => {
    const wrong = await host.browser().post('/admin/login', { login: 'admin', password: 'wrong' });
    const unknown = await host.browser().post('/admin/login', { login: 'nobody', password: 'wrong' });
    expect([wrong.status, unknown.status]).to.deep.equal([401, 401]);
    expect(wrong.text).to.contain('Incorrect user name or password.').and.contain('value="admin"');
    expect(unknown.text).to.contain('Incorrect user name or password.');
    expect(wrong.text).not.to.contain('value="wrong"');
    expect(wrong.headers.getSetCookie()).to.deep.equal([]);
  });

  it('asks for both fields before it tries', async () => {
    const answer = await host.browser().post('/admin/login', { login: 'admin' });
    expect(answer.status).to.equal(400);
    expect(answer.text).to.contain('Enter your user name and password.');
  });

  it('passes on the sentence of too many tries', async () => {
    const answer = await host.browser().post('/admin/login', { login: 'eager', password: 'x' });
    expect(answer.status).to.equal(429);
    expect(answer.text).to.contain('Too many attempts. Wait a minute.');
  });

  for (const trap of [
    'https://evil.example/admin/',
    '//evil.example/admin/',
    '/\\evil.example/admin/',
    '/admin\\..\\x',
    '/admin/../wp-json/',
    '/\t/evil.example',
    '/other',
    'javascript:alert(1)',
    '/admin/ x',
    '/admin/logout',
    '/adminx',
  ]) {
    it(`leads to the dashboard, not to ${JSON.stringify(trap)}`, async () => {
      const answer = await host
        .browser()
        .post('/admin/login', { login: 'admin', password: 'correct horse battery', to: trap });
      expect([answer.status, answer.location]).to.deep.equal([303, '/admin/']);
    });
  }

  it('refuses a sign-in form that another site sends', async () => {
    const fields = { login: 'admin', password: 'correct horse battery' };
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
    ]) {
      const answer = await host.browser().post('/admin/login', fields, headers);
      expect(answer.status).to.equal(403);
      expect(answer.headers.getSetCookie()).to.deep.equal([]);
    }
    for (const headers of [{ Origin: host.url }, { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }])
      expect((await host.browser().post('/admin/login', fields, headers)).status).to.equal(303);
  });

  it('signs out by POST with a nonce only', async () => {
    const browser = await host.signedIn();
    const page = await browser.get('/admin/');
    expect((await browser.get('/admin/logout')).status).to.equal(404);
    expect((await browser.post('/admin/logout')).status).to.equal(403);
    expect((await browser.post('/admin/logout', { _nonce: 'wrong' })).status).to.equal(403);
    expect((await browser.get('/admin/')).status).to.equal(200);
    const answer = await browser.post('/admin/logout', { _nonce: page.nonce('/admin/logout') });
    expect([answer.status, answer.location]).to.deep.equal([303, '/admin/login?signed-out']);
    expect((await browser.get('/admin/')).status).to.equal(302);
  });

  it('answers scripts without a session with 401 in JSON', async () => {
    const answer = await host.browser().post('/admin/plugins?action=activate', {}, { Accept: 'application/json' });
    expect(answer.status).to.equal(401);
    expect(answer.json()).to.include({ code: 'rest_not_logged_in' });
  });

  it('never lets a page be cached', async () => {
    const browser = await host.signedIn();
    for (const path of ['/admin/', '/admin/login', '/admin/nothing'])
      expect((await browser.get(path)).headers.get('cache-control')).to.equal('no-store');
  });
});

describe('the pages before the sign-in', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost();
  });
  after(() => host.stop());

  const languageOf = async (path: string, wanted?: string) => {
    const response = await host.fetch(path, { headers: wanted === undefined ? {} : { 'accept-language': wanted } });
    return /<html[^>]* lang="([^"]*)"/.exec(await response.text())?.[1];
  };

  it('are in the language that the browser asks for, if there is one, else in that of the site', async () => {
    for (const path of ['/admin/login', '/admin/forgot-password', '/admin/set-password?token=x'])
      expect(await languageOf(path, 'fr, de-AT;q=0.9, en;q=0.5'), path).to.equal('de');
    const english = await languageOf('/admin/login');
    expect(english).to.match(/^en/);
    expect(await languageOf('/admin/login', 'fr')).to.equal(english);
    expect(await languageOf('/admin/login', 'en-US, de;q=0.5')).to.equal(english);
    await host.options.update('WPLANG', 'de');
    expect(await languageOf('/admin/login')).to.equal('de');
    expect(await languageOf('/admin/login', 'fr')).to.equal('de');
    expect(await languageOf('/admin/login', 'en-US, de;q=0.5')).to.match(/^en/);
  });

  it('put the cursor into the password after a wrong one', async () => {
    const body = new URLSearchParams({ login: 'ada', password: 'wrong' });
    const html = await (await host.fetch('/admin/login', { method: 'POST', body })).text();
    expect(html)
      .to.match(/id="password"[^>]* autofocus/)
      .and.not.match(/id="login"[^>]* autofocus/);
    expect(await (await host.fetch('/admin/login')).text()).to.match(/id="login"[^>]* autofocus/);
  });
});
