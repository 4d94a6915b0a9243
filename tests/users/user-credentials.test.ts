import { expect } from 'chai';
import type { User } from '#plugin-api';
import type { SignedIn, TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { createKeyStore } from '../../plugins/svc/modules/keys/key-store.ts';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

const box = 'name="revoke_credentials" value="1" checked';

describeSharedHosts('what lets programs act for a user', ({ location }) => {
  let host: TestHost;
  let admin: SignedIn;
  let user: User;
  let number = 0;
  before(async () => {
    const { databaseUrl, dataDir } = location();
    host = await createMigratedHost({ plugins: ['svc'], database: databaseUrl ?? dataDir });
    admin = await host.signIn();
  });
  after(() => host.stop());
  beforeEach(async () => {
    number += 1;
    const login = `user${String(number)}`;
    const password = 'a long enough phrase';
    user = await host.users.create({ login, email: `${login}@example.com`, password, role: 'administrator' });
    await createApplicationPasswords(host).create(user.id, `Robot ${String(number)}`);
    await keys().create({ name: `Shop ${String(number)}`, routes: ['generate'] }, user.id);
  });
  const keys = () => createKeyStore({ ...host, site: { ...host.site, addPage: () => () => undefined } });
  const working = async (): Promise<string[]> => [
    ...(await createApplicationPasswords(host).list(user.id)).map(({ name }) => name),
    ...(await keys().list())
      .filter(({ createdBy, revokedAt }) => createdBy === user.id && revokedAt === null)
      .map(({ name }) => name),
  ];
  const both = (): string[] => [`Robot ${String(number)}`, `Shop ${String(number)}`];
  const edit = (): Record<string, string> => ({
    ...{ id: String(user.id), email: user.email, display_name: user.displayName },
  });

  it('is listed, with its end ticked, where a user is demoted, deleted or gets another password', async () => {
    const { token } = await host.accounts.links.create(user.id, 'reset');
    const reset = await (await host.fetch(`/admin/set-password?token=${token}`)).text();
    for (const text of [
      (await admin.open(`users/edit?id=${String(user.id)}`)).text,
      (await admin.open(`users/delete?id=${String(user.id)}`)).text,
      reset,
    ])
      for (const part of [box, ...both()]) expect(text).to.contain(part);
  });

  it('ends with a demotion if it is ticked, and stays with a promotion', async () => {
    const page = `users/edit?id=${String(user.id)}`;
    await admin.submit(page, 'save', { ...edit(), role: 'editor' });
    expect(await working(), 'not ticked').to.deep.equal(both());
    await admin.submit(page, 'save', { ...edit(), role: 'administrator', revoke_credentials: '1' });
    expect(await working(), 'a promotion').to.deep.equal(both());
    await admin.submit(page, 'save', { ...edit(), role: 'author', revoke_credentials: '1' });
    expect(await working()).to.deep.equal([]);
  });

  it('ends with a demotion in bulk, over REST and by a plugin or a command, but not with a promotion', async () => {
    const roles = (...names: string[]) => ({ roles: names });
    const path = `/wp-json/wp/v2/users/${String(user.id)}`;
    await host.users.update(user.id, { ...roles('administrator'), displayName: 'Same role' });
    expect(await working(), 'the same role').to.deep.equal(both());
    await host.users.update(user.id, roles('administrator', 'editor'));
    expect(await working(), 'one role more').to.deep.equal(both());
    const headers = {
      cookie: admin.cookie,
      'content-type': 'application/json',
      'x-wp-nonce': await (await host.fetch('/admin/rest-nonce', { headers: { cookie: admin.cookie } })).text(),
    };
    const rest = async (url: string, init: RequestInit): Promise<void> =>
      expect((await host.fetch(url, { ...init, headers })).status, url).to.equal(200) as never;
    const demotions: (() => Promise<unknown>)[] = [
      () => admin.submit('users', 'bulk', { do: 'editor', ids: String(user.id) }),
      () => rest(path, { method: 'POST', body: JSON.stringify(roles('author')) }),
      () => host.users.update(user.id, roles('subscriber')),
      () => rest(`${path}?force=true&reassign=false`, { method: 'DELETE' }),
    ];
    for (const [place, demote] of demotions.entries()) {
      if ((await working()).length === 0) {
        await createApplicationPasswords(host).create(user.id, `Robot ${String(number)}`);
        await keys().create({ name: `Shop ${String(number)}`, routes: ['generate'] }, user.id);
      }
      await demote();
      expect(await working(), String(place)).to.deep.equal([]);
    }
  });

  it('ends with a reset of the password by mail, whose network others cannot lock out', async () => {
    const { token } = await host.accounts.links.create(user.id, 'reset');
    const password = 'an entirely new phrase';
    const fields = { token, password, password_again: password, revoke_credentials: '1' };
    await host.fetch('/admin/set-password', { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
    expect(await working()).to.deep.equal([]);
    const known = await host.database.knex('login_attempts').where({ tries: 0 }).select('expires_at');
    expect(known.length, 'known networks').to.be.at.least(1);
  });

  it('ends with the user if it is ticked; a key that stays is an alert', async () => {
    const page = `users/delete?id=${String(user.id)}`;
    const kept = `Shop ${String(number)}`;
    await admin.submit(page, 'delete', { id: String(user.id), content: 'remove' });
    expect(await working()).to.deep.equal([kept]);
    const alerts = await host.hooks.applyFiltersAsync('admin_alerts', [], admin.user);
    expect(alerts.map(({ text }) => text).join()).to.contain(`“${kept}” still works, but the user who created it`);
    const health = JSON.stringify(await host.abilities.run('host/site-health', undefined, { user: admin.user }));
    expect(health).to.contain('The creator of an API key was deleted').and.contain(kept);
    await host.users.create({
      login: 'last',
      email: 'last@example.com',
      password: 'a long enough phrase',
      role: 'editor',
    });
    user = (await host.users.find('last'))!;
    await keys().create({ name: 'Last', routes: ['generate'] }, user.id);
    const fields = { id: String(user.id), content: 'remove', revoke_credentials: '1' };
    await admin.submit(`users/delete?id=${String(user.id)}`, 'delete', fields);
    expect(await working()).to.deep.equal([]);
  });
});
