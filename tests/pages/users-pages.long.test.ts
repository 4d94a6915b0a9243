import { expect } from 'chai';
import type { User } from '#plugin-api';
import { describeHosts } from '../helpers/dialects.ts';
import { openPages, password, type AdminBrowser, type PagesSite } from './pages-site.ts';

describeHosts('the pages about users', (dialectCase) => {
  let site: PagesSite;
  let admin: User;
  let browser: AdminBrowser;
  beforeEach(async () => {
    site = await openPages(dialectCase);
    admin = await site.create({ login: 'ada', displayName: 'Ada Lovelace', role: 'administrator' });
    browser = await site.signIn('ada');
  });
  afterEach(() => site.host.stop());

  it('list users with roles, find them, and page', async () => {
    for (let number = 1; number <= 21; number += 1)
      await site.host.database.knex('users').insert({
        login: `m${number}`,
        login_key: `m${number}`,
        slug: `m${number}`,
        email: `m${number}@x.example`,
        email_key: `m${number}@x.example`,
        display_name: `M ${number}`,
        display_key: `m ${String(number).padStart(2, '0')}`,
        roles: '["author"]',
        password_hash: '-',
        created_at: 0,
      });
    const { text } = await browser.get('/admin/users');
    expect(text)
      .to.contain('All (22)')
      .and.contain('Author (21)')
      .and.contain('Administrator (1)')
      .and.contain('Ada Lovelace You')
      .and.contain('Page 1 of 2');
    const second = await browser.get('/admin/users?page=2&role=author');
    expect(second.text).to.contain('M 21').and.contain('21 users');
    expect(second.text).not.to.contain('Ada');
    expect((await browser.get('/admin/users?s=M%2021')).text)
      .to.contain('1 user')
      .and.contain('m21@x.example');
    expect((await browser.get('/admin/users?s=%3Cnobody%3E')).text).to.contain('No users found');
  });

  it('sort users, give several another role at once, and undo', async () => {
    const bob = await site.create({ login: 'bob', displayName: 'Bob', role: 'author' });
    const cleo = await site.create({ login: 'cleo', displayName: 'Cleo', role: 'editor' });
    const sorted = await browser.get('/admin/users?sort=displayName&order=desc');
    expect(sorted.text.indexOf('Cleo')).to.be.below(sorted.text.indexOf('Bob'));
    const fields = { ids: `${bob.id},${cleo.id}`, back: 'sort=email&order=desc' };
    const changed = await browser.submit('/admin/users', 'bulk', { ...fields, do: 'subscriber' });
    expect(changed.text).to.contain('2 users: role changed to Subscriber.').and.contain('Subscriber (2)');
    const rolesOf = async (id: number) => (await site.host.users.get(id))?.roles;
    expect(await rolesOf(cleo.id)).to.deep.equal(['subscriber']);
    const was = `${bob.id}:author,${cleo.id}:editor`;
    expect(changed.html).to.contain(`name="was" value="${was}"`);
    const undone = await browser.submit('/admin/users', 'bulk', { ...fields, do: 'undo', was });
    expect(undone.text).to.contain('2 users: previous role restored.');
    expect([await rolesOf(bob.id), await rolesOf(cleo.id)]).to.deep.equal([['author'], ['editor']]);
    const own = await browser.submit('/admin/users', 'bulk', { do: 'editor', ids: `${bob.id},${admin.id}` });
    expect(own.text).to.contain('You are not allowed to change the roles of these users.');
    expect(await rolesOf(bob.id)).to.deep.equal(['author']);
    const filtered = await browser.get('/admin/users?role=author&s=bob');
    const links = filtered.html.replaceAll('&#x3D;', '=');
    expect(links).to.contain('class="chip" href="?s=bob"').and.contain('class="chip" href="?role=author"');
  });

  it('add a user, with a sentence at each bad field and what was typed', async () => {
    const bad = await browser.submit('/admin/users/new', 'create', {
      login: 'a/b',
      email: 'bob@example.com',
      display_name: 'Bob',
      role: 'editor',
      password: 'short',
    });
    expect(bad.status).to.equal(400);
    expect(bad.text).to.contain('Use 1 to 60 letters').and.contain('Use 12 to 1024 characters');
    expect(bad.html)
      .to.contain('value="bob@example.com"')
      .and.match(/value="editor" selected/);
    expect(bad.html).not.to.contain('value="short"');
    const added = await browser.submit('/admin/users/new', 'create', {
      login: 'bob',
      email: 'bob@example.com',
      display_name: 'Bob',
      role: 'editor',
      password,
    });
    expect(added.text).to.contain('Bob added.');
    expect((await site.host.users.verify('bob', password))?.roles).to.deep.equal(['editor']);
  });

  it('change role, address and password of a user, which signs them out', async () => {
    const bob = await site.create({ login: 'bob' });
    const bobs = await site.signIn('bob');
    const path = `/admin/users/edit?id=${bob.id}`;
    const saved = await browser.submit(path, 'save', {
      id: String(bob.id),
      display_name: 'Bob B',
      email: 'b@example.com',
      role: 'author',
    });
    expect(saved.text).to.contain('User saved.');
    const { displayName, email, roles } = (await site.host.users.get(bob.id))!;
    expect([displayName, email, roles]).to.deep.equal(['Bob B', 'b@example.com', ['author']]);
    expect((await bobs.get('/admin/profile')).status).to.equal(302);
    expect((await browser.submit(path, 'password', { id: String(bob.id), password: 'x' })).text).to.contain(
      'Use 12 to 1024 characters',
    );
    await browser.submit(path, 'password', { id: String(bob.id), password: 'a wholly new one' });
    const again = await site.signIn('bob', 'a wholly new one');
    expect((await browser.get(path)).text).to.contain('Signed in on 1 browser.');
    expect((await browser.submit(path, 'sign-out', { id: String(bob.id) })).text)
      .to.contain('Bob B has been signed out everywhere.')
      .and.contain('Not signed in anywhere.');
    expect((await again.get('/admin/profile')).status).to.equal(302);
  });

  it('ask for the password before they assign a role or change a security setting, later than ten minutes', async () => {
    const bob = await site.create({ login: 'bob' });
    await site.host.clock.advance(10 * 60_000);
    const fields = { display_name: 'bob', email: 'bob@example.com' };
    const asked = [
      await browser.submit(`/admin/users/edit?id=${bob.id}`, 'save', { id: String(bob.id), ...fields, role: 'editor' }),
      await browser.submit('/admin/users/new', 'create', { ...fields, login: 'eve', role: 'administrator', password }),
      await browser.submit('/admin/settings', 'save', { 'settings[two_factor_roles][]': 'administrator' }),
    ];
    for (const { status, text } of asked)
      expect([status, text.includes('Confirm your password')]).to.deep.equal([403, true]);
    expect([(await site.host.users.get(bob.id))!.roles, await site.host.users.find('eve')]).to.deep.equal([
      ['subscriber'],
      null,
    ]);
    const saved = await browser.submit(`/admin/users/edit?id=${bob.id}`, 'save', { id: String(bob.id), ...fields });
    expect(saved.text).to.contain('User saved.');
  });

  it('delete a user only with a word on what they own, never oneself', async () => {
    const bob = await site.create({ login: 'bob', role: 'author' });
    const path = `/admin/users/delete?id=${bob.id}`;
    const told: unknown[] = [];
    site.host.hooks.addAction('delete_user', (id, reassignTo) => void told.push([id, reassignTo]));
    expect((await browser.submit(path, 'delete', { id: String(bob.id), content: '' })).text).to.contain(
      'Choose what happens',
    );
    expect(await site.host.users.get(bob.id)).not.to.equal(null);
    expect((await browser.submit(path, 'delete', { id: String(bob.id), content: String(admin.id) })).text).to.contain(
      'bob deleted.',
    );
    expect([await site.host.users.get(bob.id), told]).to.deep.equal([null, [[bob.id, admin.id]]]);
    const own = await browser.get(`/admin/users/delete?id=${admin.id}`);
    expect([own.status, own.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 400 && text.includes('You cannot delete your own account'),
    );
    expect((await browser.get(path)).status).to.equal(404);
  });

  it('refuse to take the last administrator away', async () => {
    const refused = await browser.submit(`/admin/users/edit?id=${admin.id}`, 'save', {
      id: String(admin.id),
      display_name: 'Ada',
      email: 'ada@example.com',
      role: 'editor',
    });
    expect([refused.status, refused.text.includes('Make another user an administrator first')]).to.deep.equal([
      400,
      true,
    ]);
    expect((await site.host.users.get(admin.id))?.roles).to.deep.equal(['administrator']);
  });

  it('are closed to those without the capability, whose menu does not show them', async () => {
    await site.create({ login: 'bob', role: 'editor' });
    const bobs = await site.signIn('bob');
    for (const path of [
      '/admin/users',
      '/admin/users/new',
      `/admin/users/edit?id=${admin.id}`,
      `/admin/users/delete?id=${admin.id}`,
      '/admin/settings',
      '/admin/tools',
      '/admin/tools/cron',
      '/admin/tools/hooks',
    ]) {
      expect([path, (await bobs.get(path)).status]).to.deep.equal([path, 403]);
    }
    const { html } = await bobs.get('/admin/profile');
    expect(html)
      .to.contain('href="/admin/profile"')
      .and.not.contain('href="/admin/users"')
      .and.not.contain('href="/admin/settings"');
  });

  it('change nothing without the nonce of their page', async () => {
    const bob = await site.create({ login: 'bob' });
    const { status } = await browser.post('/admin/users/delete?action=delete', {
      id: String(bob.id),
      content: 'remove',
    });
    expect(status).to.equal(403);
    expect(await site.host.users.get(bob.id)).not.to.equal(null);
  });
});

describeHosts('the profile', (dialectCase) => {
  let site: PagesSite;
  let bob: User;
  let browser: AdminBrowser;
  beforeEach(async () => {
    site = await openPages(dialectCase);
    bob = await site.create({ login: 'bob' });
    browser = await site.signIn('bob');
  });
  afterEach(() => site.host.stop());

  it('changes name and address', async () => {
    const saved = await browser.submit('/admin/profile', 'save', { display_name: 'Bob C', email: 'new@example.com' });
    expect(saved.text).to.contain('Profile saved.');
    const { displayName, email } = (await site.host.users.get(bob.id))!;
    expect([displayName, email]).to.deep.equal(['Bob C', 'new@example.com']);
  });

  it('changes the password, and keeps this session while the others end', async () => {
    const elsewhere = await site.signIn('bob');
    const change = (fields: Record<string, string>): ReturnType<AdminBrowser['submit']> =>
      browser.submit('/admin/profile', 'password', fields);
    expect((await change({ password: 'another long one', again: 'yet another' })).text).to.contain(
      'The passwords do not match.',
    );
    expect((await change({ password: 'short', again: 'short' })).text).to.contain('Use 12 to 1024 characters');
    expect((await change({ password: 'another long one', again: 'another long one' })).text).to.contain(
      'Password changed.',
    );
    expect(await site.host.users.verify('bob', 'another long one')).not.to.equal(null);
    expect([
      (await browser.get('/admin/profile')).status,
      (await elsewhere.get('/admin/profile')).status,
    ]).to.deep.equal([200, 302]);
  });

  it('asks for the password ten minutes after the sign-in, and then goes on with what was typed', async () => {
    await site.host.clock.advance(10 * 60_000);
    const typed = { display_name: 'Bob "C"', email: 'new@example.com' };
    const asked = await browser.submit('/admin/profile', 'save', typed);
    expect([asked.status, asked.text.includes('Confirm your password')]).to.deep.equal([403, true]);
    expect(asked.html).to.contain('name="display_name" value="Bob &quot;C&quot;"');
    expect((await site.host.users.get(bob.id))!.email).to.equal('bob@example.com');
    const wrong = await browser.submit('/admin/profile', 'save', { ...typed, _password: 'a wrong one' });
    expect([wrong.status, wrong.text.includes('Incorrect password.')]).to.deep.equal([403, true]);
    expect((await browser.submit('/admin/profile', 'save', { ...typed, _password: password })).text).to.contain(
      'Profile saved.',
    );
    expect((await site.host.users.get(bob.id))!.email).to.equal('new@example.com');
    // The confirmation holds for the session: nothing asks again.
    expect((await browser.submit('/admin/profile', 'create-password', { name: 'script' })).text).to.contain(
      'Application password for script created.',
    );
  });

  it('changes the name alone without the password', async () => {
    await site.host.clock.advance(3_600_000);
    const saved = await browser.submit('/admin/profile', 'save', { display_name: 'B', email: 'bob@example.com' });
    expect(saved.text).to.contain('Profile saved.');
  });

  it('limits guesses of the password', async () => {
    await site.host.clock.advance(10 * 60_000);
    const guess = (): ReturnType<AdminBrowser['submit']> =>
      browser.submit('/admin/profile', 'create-password', { name: 'x', _password: 'a wrong one' });
    for (let tries = 0; tries < 10; tries += 1) await guess();
    const refused = await guess();
    expect([refused.status, /too many sign-in attempts/i.test(refused.text)]).to.deep.equal([429, true]);
  });

  it('makes an application password, shown once, and revokes it', async () => {
    const made = await browser.submit('/admin/profile', 'create-password', { name: 'backup script' });
    const secret = /<code data-copy-source>((?:\w{4} ){5}\w{4})<\/code>/.exec(made.html)?.[1] ?? '';
    const me = (): Promise<Response> =>
      site.host.fetch('/wp-json/wp/v2/users/me', {
        headers: { authorization: `Basic ${Buffer.from(`bob:${secret}`).toString('base64')}` },
      });
    expect((await me()).status).to.equal(200);
    const { html, text } = await browser.get('/admin/profile');
    expect(text).to.contain('backup script');
    expect(html).not.to.contain(secret);
    const id = /name="id" value="([0-9a-f-]{36})"/.exec(html)?.[1] ?? '';
    expect((await browser.submit('/admin/profile', 'revoke-password', { id })).text).to.contain('revoked');
    expect((await me()).status).to.equal(401);
    expect((await browser.submit('/admin/profile', 'create-password', { name: ' ' })).text).to.contain(
      'a name of 1 to 100 characters',
    );
  });

  it('shows the sessions and ends one, or all others, but never those of somebody else', async () => {
    const [second, third] = [await site.signIn('bob'), await site.signIn('bob')];
    const ids = [...(await browser.get('/admin/profile')).html.matchAll(/name="id" value="([0-9a-f]{64})"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(ids).to.have.length(2);
    await browser.submit('/admin/profile', 'sign-out', { id: ids[0]! });
    expect(
      [(await second.get('/admin/profile')).status, (await third.get('/admin/profile')).status].sort(),
    ).to.deep.equal([200, 302]);
    await browser.submit('/admin/profile', 'sign-out-others');
    expect([
      (await browser.get('/admin/profile')).status,
      (await second.get('/admin/profile')).status,
      (await third.get('/admin/profile')).status,
    ]).to.deep.equal([200, 302, 302]);
    await site.create({ login: 'eve' });
    const eves = await site.signIn('eve');
    await site.signIn('bob');
    const [others = ''] = [
      ...(await browser.get('/admin/profile')).html.matchAll(/name="id" value="([0-9a-f]{64})"/g),
    ].map((match) => match[1]);
    const nonce =
      /name="_nonce" value="([^"]+)"/.exec((await eves.get('/admin/profile')).html.split('<main')[1] ?? '')?.[1] ?? '';
    await eves.post('/admin/profile?action=sign-out', { id: others, _nonce: nonce });
    expect((await browser.get('/admin/profile')).html).to.contain(others);
  });
});
