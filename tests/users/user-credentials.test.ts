import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { User } from '#plugin-api';
import { createTestHost, type SignedIn, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { createKeyStore } from '../../plugins/svc/modules/keys/key-store.ts';

const box = 'name="revoke_credentials" value="1" checked';

describe('what lets programs act for a user', () => {
  let folder = '';
  let host: TestHost;
  let admin: SignedIn;
  let user: User;
  let number = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-credentials-'));
    host = await createTestHost({ plugins: ['svc'], database: folder });
    admin = await host.signIn();
  });
  after(async () => {
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });
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
