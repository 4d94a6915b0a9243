import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { returnUrlError, withQuery } from '../../host/pages/authorize-application-page.ts';
import { signIn, type Browser } from '../helpers/sign-in.ts';

/** As recorded of WordPress, except for the last group. */
const urls: Readonly<Record<string, boolean>> = {
  'https://app.test/cb?x=1': true,
  'https://app.test/cb#frag': true,
  'com.example.app://auth/cb': true,
  'myapp://auth/cb': false,
  'ms-msdt://x/y': false,
  'jar://x/y': false,
  'feed://x/y': false,
  'http://127.0.0.1:9999/cb': true,
  'http://[::1]:80/cb': true,
  'http://localhost/cb': false,
  'http://app.test/cb': false,
  'HTTP://app.test/cb': false,
  'javascript:alert(1)': false,
  'javascript://app.test/%0aalert(1)': false,
  'data:text/html,x': false,
  'DATA://h/x': false,
  '/cb': false,
  'app.test/cb': false,
  '//app.test/cb': false,
  'myapp:cb': false,
  'https:///cb': false,
  'file:///etc/x': false,
  // Stricter than WordPress.
  'https://u:p@app.test/cb': false,
  'https://app.test\\@evil.test/cb': false,
  'java\tscript://app.test/x': false,
  'vbscript://app.test/x': false,
  'blob://app.test/x': false,
  'file://host/x': false,
};

describe('the page that authorizes applications', () => {
  for (const [url, isAllowed] of Object.entries(urls))
    it(`${isAllowed ? 'returns' : 'does not return'} to ${JSON.stringify(url)}`, () => {
      expect(returnUrlError(url) === null).to.equal(isAllowed);
    });

  it('adds parameters before a fragment', () => {
    expect(withQuery('https://a.test/cb?x=1#f', { site_url: 'http://b' })).to.equal(
      'https://a.test/cb?x=1&site_url=http%3A%2F%2Fb#f',
    );
    expect(withQuery('com.example.app://auth', { success: 'false' })).to.equal('com.example.app://auth?success=false');
  });

  describe('on a site', () => {
    let host: TestHost;
    let admin: Browser;
    before(async () => {
      host = await createTestHost();
      admin = await signIn(host);
    });
    after(() => host.stop());

    const id = 'aaaaaaaa-1111-4222-8333-444444444444';
    const query = (values: Readonly<Record<string, string>>): string => new URLSearchParams(values).toString();
    const asked = { app_name: 'My <App>', app_id: id, success_url: 'https://app.test/cb?x=1' };
    const passwords = async (): Promise<readonly { name: string; app_id: string }[]> =>
      (await host.database.knex('application_passwords').select('name', 'app_id')) as never;

    it('is named in the REST index, at the address that WordPress has', async () => {
      const index = (await (await host.fetch('/wp-json/')).json()) as { readonly authentication: unknown };
      const authorization = `${host.url}/wp-admin/authorize-application.php`;
      expect(index.authentication).to.deep.equal({ 'application-passwords': { endpoints: { authorization } } });
      const response = await host.fetch(`/wp-admin/authorize-application.php?${query(asked)}`, { redirect: 'manual' });
      expect(response.status).to.equal(302);
      expect(response.headers.get('location')).to.equal(`/admin/authorize-application?${query(asked)}`);
      const guest = await host.fetch(`/admin/authorize-application?${query(asked)}`, { redirect: 'manual' });
      expect(guest.headers.get('location')).to.match(/^\/admin\/login\?to=%2Fadmin%2Fauthorize-application%3Fapp_name/);
    });

    it('shows who asks, what is granted and where the password goes', async () => {
      const page = await admin.get(`authorize-application?${query(asked)}`);
      expect(page)
        .to.contain('My &lt;App&gt;')
        .and.contain('<strong>test-administrator</strong>')
        .and.contain('Administrator')
        .and.contain('<code>https://app.test</code>')
        .and.contain('https://app.test/cb?x&#x3D;1&amp;success&#x3D;false')
        .and.not.contain('<App>');
      expect(await passwords()).to.deep.equal([]);
    });

    it('creates a working password only when the user allows it', async () => {
      const { text } = await admin.post('authorize-application', 'authorize', asked);
      expect(await passwords()).to.deep.equal([{ name: 'My <App>', app_id: id }]);
      const href = /href="(https:\/\/app\.test[^"]+)"/.exec(text)?.[1] ?? '';
      const target = new URL(href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='));
      const { x, site_url, user_login, password } = Object.fromEntries(target.searchParams);
      expect([x, site_url, user_login]).to.deep.equal(['1', host.url, 'test-administrator']);
      const me = await host.fetch('/wp-json/wp/v2/users/me', {
        headers: { authorization: `Basic ${Buffer.from(`test-administrator:${password ?? ''}`).toString('base64')}` },
      });
      expect(me.status).to.equal(200);
    });

    it('shows the password to type where there is no address, and asks for a name', async () => {
      const unnamed = await admin.post('authorize-application', 'authorize', { app_name: ' ' });
      expect(unnamed.text).to.contain('Enter a name of 1 to 100 characters');
      const { text } = await admin.post('authorize-application', 'authorize', { app_name: 'Phone' });
      expect(text).to.match(/data-copy-source>([\w]{4} ){5}[\w]{4}</);
      expect((await passwords()).map(({ name }) => name)).to.deep.equal(['My <App>', 'Phone']);
    });

    it('is off for a user where a plugin says so, as are the profile, the REST interface and a password of before', async () => {
      const made = await createApplicationPasswords(host).create(1, 'Before');
      const authorization = `Basic ${Buffer.from(`test-administrator:${made.password}`).toString('base64')}`;
      const read = async (): Promise<{ readonly code?: string }> =>
        (await (await host.fetch('/wp-json/wp/v2/users/me', { headers: { authorization } })).json()) as object;
      expect((await read()).code).to.equal(undefined);
      const before = await passwords();
      const undo = host.hooks.addFilter(
        'wp_is_application_passwords_available_for_user',
        (isAvailable, { login }) => isAvailable && login !== 'test-administrator',
      );
      try {
        expect((await read()).code).to.equal('application_passwords_disabled_for_user');
        const page = await admin.get(`authorize-application?${query(asked)}`);
        expect(page)
          .to.contain('not available for your account')
          .and.contain('href="https://app.test/cb?x&#x3D;1&amp;success&#x3D;false&amp;error&#x3D;disabled"')
          .and.not.contain('Allow access');
        const denied = await admin.post('authorize-application', 'authorize', asked);
        expect(denied.text).not.to.contain('has access');
        await admin.post('profile', 'create-password', { name: 'Phone' });
        expect(await passwords()).to.deep.equal(before);
      } finally {
        undo();
      }
    });

    for (const [name, values] of Object.entries({
      'an unsafe address': { success_url: 'javascript://app.test/%0aalert(1)' },
      'an insecure address': { success_url: 'http://app.test/cb' },
      'an unsafe address to return to after a refusal': { reject_url: 'data:text/html,x' },
      'an invalid id': { app_id: 'zzz' },
    }))
      it(`refuses ${name}, in the address and in a changed form`, async () => {
        const before = await passwords();
        const page = await admin.get(`authorize-application?${query({ app_name: 'App', ...values })}`);
        expect(page).to.contain('This request for access is not allowed.').and.not.contain('Allow access');
        // The nonce is that of another page, which shows a form.
        const { status, text } = await admin.post('authorize-application', 'authorize', { app_name: 'App', ...values });
        expect(text).to.contain('This request for access is not allowed.').and.not.contain('href="javascript');
        expect(status).to.equal(400);
        expect(await passwords()).to.deep.equal(before);
      });
  });
});
