import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { openAdmin, type Browser, type OpenAdmin } from './open-admin.ts';

describe('confirming the password', () => {
  let site: OpenAdmin;
  let browser: Browser;
  let runs: unknown[];
  const password = 'correct horse battery';
  const target = '/admin/vault?action=store';

  beforeEach(async () => {
    site = await openAdmin();
    runs = [];
    site.admin.api.addPage({
      slug: 'vault',
      title: 'Vault',
      uploadLimit: 10_000,
      render: async () => ({ template: 'admin/empty', data: { title: 'Vault' } }),
      actions: {
        store: async (request) => {
          request.requireFreshSignIn();
          const zip = request.files?.['zip'];
          runs.push({ ...request.form, ...(zip && { zip: await readFile(zip.path, 'utf8') }) });
          return { notice: { kind: 'success', text: 'Stored.' } };
        },
      },
    });
    browser = await site.signedIn();
  });
  afterEach(() => site.close());

  const nonceOfPage = (): string => site.pageNonce('vault', browser.cookies.get('svc_session') ?? '');

  it('is not needed within ten minutes of the sign-in', async () => {
    await browser.post(target, { _nonce: nonceOfPage(), name: 'a' });
    expect(runs).to.deep.equal([{ name: 'a' }]);
  });

  it('asks with the typed form, and then runs the action with all of it', async () => {
    await site.clock.advance(10 * 60_000);
    const typed = { 'settings[key]': 'a "b"', 'names[]': 'x', _nonce: nonceOfPage() };
    const asked = await browser.post(target, typed);
    expect([asked.status, runs]).to.deep.equal([403, []]);
    expect(asked.text)
      .to.contain('Confirm your password')
      .and.contain('>Confirm password</button>')
      .and.contain('name="settings[key]" value="a &quot;b&quot;"')
      .and.contain('name="names[0]" value="x"');
    const wrong = await browser.post(target, { ...typed, _password: 'wrong' });
    expect([wrong.status, wrong.text.includes('Incorrect password.'), wrong.text.includes('"wrong"')]).to.deep.equal([
      403,
      true,
      false,
    ]);
    const done = await browser.post(target, { ...typed, _password: password });
    expect([done.status, runs]).to.deep.equal([303, [{ settings: { key: 'a "b"' }, names: ['x'] }]]);
    await browser.post(target, typed);
    expect(runs).to.have.length(2);
  });

  it('tells scripts by its code, so that they can ask', async () => {
    await site.clock.advance(10 * 60_000);
    const headers = { Accept: 'application/json' };
    const form = { _nonce: nonceOfPage() };
    const asked = await browser.post(target, form, headers);
    expect([asked.status, asked.json()['code']]).to.deep.equal([403, 'fresh_sign_in_required']);
    const done = await browser.post(target, { ...form, _password: password }, headers);
    expect(done.json()['notice']).to.deep.equal({ kind: 'success', text: 'Stored.' });
  });

  it('asks for files again by their names', async () => {
    await site.clock.advance(10 * 60_000);
    const nonce = nonceOfPage();
    const upload = async (fields: Record<string, string>): Promise<string> => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ _nonce: nonce, note: 'n', ...fields })) body.append(name, value);
      body.append('zip', new Blob(['PK']), 'shop.zip');
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(site.url + target, {
        method: 'POST',
        body,
        headers: { cookie },
        redirect: 'manual',
      });
      return response.text();
    };
    expect(await upload({}))
      .to.contain('Choose shop.zip again')
      .and.contain('multipart/form-data');
    await upload({ _password: password });
    expect(runs).to.deep.equal([{ note: 'n', zip: 'PK' }]);
  });
});
