import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type SignedIn, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import type { User } from '#plugin-api';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openSite, type Answer, type Call, type RoutesSite } from './routes-site.ts';

const password = 'correct horse battery';

describeSharedHosts('changing how one signs in, over REST', (dialectCase) => {
  const shared = shareSite(() => openSite(dialectCase));
  let site: RoutesSite;
  let anna: User;
  let inSession: Call;
  const outcome = ({ status, body }: Answer): unknown[] => [status, body.code ?? 'done'];
  /** The three changes, each with further parameters. */
  const changes = async (call: Call, more: Record<string, unknown> = {}): Promise<unknown[]> => {
    const post = async (path: string, json: Record<string, unknown>): Promise<unknown> =>
      outcome(await call(`/wp/v2/users/me${path}`, { method: 'POST', json: { ...json, ...more } }));
    return [
      await post('/application-passwords', { name: 'script' }),
      await post('', { email: 'other@example.com' }),
      await post('', { password: 'an entirely new one' }),
    ];
  };

  beforeEach(async () => {
    site = shared();
    anna = await site.create({ login: 'anna' });
    inSession = await site.signedIn(anna);
  });

  it('needs no password within ten minutes of the sign-in', async () => {
    expect(await changes(inSession)).to.deep.equal([
      [201, 'done'],
      [200, 'done'],
      [200, 'done'],
    ]);
  });

  it('needs the current password later, and remembers it', async () => {
    await site.host.clock.advance(10 * 60_000);
    expect(await changes(inSession)).to.deep.equal(Array(3).fill([403, 'fresh_sign_in_required']));
    expect(await changes(inSession, { current_password: 'wrong' })).to.deep.equal(
      Array(3).fill([403, 'incorrect_current_password']),
    );
    expect((await site.host.users.get(anna.id))!.email).to.equal('anna@example.com');
    const first = await inSession('/wp/v2/users/me', {
      method: 'POST',
      json: { email: 'other@example.com', current_password: password },
    });
    expect([first.status, first.body.email]).to.deep.equal([200, 'other@example.com']);
    expect((await changes(inSession))[0]).to.deep.equal([201, 'done']);
  });

  it('is closed to application passwords, with the current password too', async () => {
    const asProgram = await site.as(anna);
    const refused = Array(3).fill([403, 'application_password_not_allowed']);
    expect(await changes(asProgram)).to.deep.equal(refused);
    expect(await changes(asProgram, { current_password: password })).to.deep.equal(refused);
  });

  it('is closed to the application passwords of administrators who change others', async () => {
    const asProgram = await site.as(await site.create({ login: 'admin', role: 'administrator' }));
    for (const json of [{ email: 'x@example.com' }, { password: 'an entirely new one' }])
      expect(outcome(await asProgram(`/wp/v2/users/${anna.id}`, { method: 'PUT', json }))).to.deep.equal([
        403,
        'application_password_not_allowed',
      ]);
    expect(await site.host.users.verify('anna', password)).not.to.equal(null);
  });

  describe('by a role', () => {
    const newUser = { username: 'dora', email: 'dora@example.com', password };
    let admin: User;
    const assign = async (call: Call, more: Record<string, unknown> = {}): Promise<unknown[]> => [
      outcome(await call('/wp/v2/users', { method: 'POST', json: { ...newUser, roles: ['administrator'], ...more } })),
      outcome(await call(`/wp/v2/users/${anna.id}`, { method: 'POST', json: { roles: ['administrator'], ...more } })),
    ];
    beforeEach(async () => {
      admin = await site.create({ login: 'admin', role: 'administrator' });
    });

    it('needs a fresh sign-in or the current password', async () => {
      const call = await site.signedIn(admin);
      await site.host.clock.advance(10 * 60_000);
      expect(await assign(call)).to.deep.equal(Array(2).fill([403, 'fresh_sign_in_required']));
      expect(await assign(call, { current_password: password })).to.deep.equal([
        [201, 'done'],
        [200, 'done'],
      ]);
    });

    it('is closed to application passwords until an administrator allows it', async () => {
      const asProgram = await site.as(admin);
      expect(await assign(asProgram)).to.deep.equal(Array(2).fill([403, 'application_password_not_allowed']));
      expect(
        outcome(await asProgram('/wp/v2/users', { method: 'POST', json: { ...newUser, username: 'emil' } })),
        'a subscriber',
      ).to.deep.equal([201, 'done']);
      expect(
        outcome(await asProgram(`/wp/v2/users/${anna.id}`, { method: 'POST', json: { roles: anna.roles } })),
        'the same role',
      ).to.deep.equal([200, 'done']);
      const own = await asProgram('/wp/v2/settings', {
        method: 'POST',
        json: { application_passwords_assign_roles: true },
      });
      expect(own.body).not.to.have.property('application_passwords_assign_roles');
      expect((await assign(asProgram))[1]).to.deep.equal([403, 'application_password_not_allowed']);
      await site.host.options.update('application_passwords_assign_roles', true);
      expect(await assign(asProgram, { email: anna.email })).to.deep.equal([
        [400, 'existing_user_email'],
        [200, 'done'],
      ]);
    });
  });

  it('is needed to delete users, and closed to application passwords', async () => {
    const admin = await site.create({ login: 'admin', role: 'administrator' });
    const remove = async (call: Call, more = {}) =>
      outcome(
        await call(`/wp/v2/users/${anna.id}`, { method: 'DELETE', json: { force: true, reassign: false, ...more } }),
      );
    expect(await remove(await site.as(admin))).to.deep.equal([403, 'application_password_not_allowed']);
    const call = await site.signedIn(admin);
    await site.host.clock.advance(10 * 60_000);
    expect(await remove(call)).to.deep.equal([403, 'fresh_sign_in_required']);
    expect(await site.host.users.get(anna.id)).not.to.equal(null);
    expect(await remove(call, { current_password: password })).to.deep.equal([200, 'done']);
  });

  it('is needed by the parts of a batch too', async () => {
    let runs = 0;
    site.host.rest.registerRoute('vault/v1', '/open', {
      methods: ['POST'],
      allowBatch: true,
      permission: async (request) => {
        await request.requireFreshSignIn();
        return true;
      },
      handler: () => (runs += 1),
    });
    const statuses = async (call: Call): Promise<number[]> => {
      const requests = [{ method: 'POST', path: '/vault/v1/open' }];
      const { body } = await call('/batch/v1', { method: 'POST', json: { requests } });
      return (body.responses as { status: number }[]).map(({ status }) => status);
    };
    expect([await statuses(await site.as(anna)), await statuses(site.call), runs]).to.deep.equal([[403], [403], 0]);
    expect([await statuses(inSession), runs]).to.deep.equal([[200], 1]);
    await site.host.clock.advance(10 * 60_000);
    expect([await statuses(inSession), runs]).to.deep.equal([[403], 1]);
  });

  it('leaves the rest of the profile to application passwords', async () => {
    const changed = await (
      await site.as(anna)
    )('/wp/v2/users/me', { method: 'POST', json: { name: 'Anna A', email: 'ANNA@example.com' } });
    expect([changed.status, changed.body.name]).to.deep.equal([200, 'Anna A']);
  });
});

describe('the sign-in that the largest acts need', () => {
  let folder = '';
  let host: TestHost;
  let admin: SignedIn;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-fresh-'));
    host = await createTestHost({ plugins: ['hello'], database: folder });
    admin = await host.signIn();
  });
  after(async () => {
    await host.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is asked for again by their pages, which lose nothing that was chosen', async () => {
    const { id } = await host.users.create({ login: 'dora', email: 'dora@example.com', password, role: 'editor' });
    await admin.submit('tools/backup', 'create');
    const name = /name="name" value="([^"]+)"/.exec((await admin.open('tools/backup')).text)?.[1] ?? '';
    expect(name).not.to.equal('');
    await host.clock.advance(10 * 60_000);
    const acts: readonly (readonly [page: string, action: string, fields: Readonly<Record<string, string>>])[] = [
      ['tools/backup', 'download', { name }],
      ['tools/backup', 'delete', { name }],
      [`users/delete?id=${String(id)}`, 'delete', { id: String(id), content: 'remove' }],
      ['plugins', 'deactivate', { slug: 'hello' }],
      ['plugins', 'activate', { slug: 'hello' }],
      ['plugins', 'bulk', { do: 'deactivate', 'ids[]': 'hello' }],
      ['plugins', 'uninstall', { slug: 'hello' }],
    ];
    for (const [page, action, fields] of acts) {
      const { status, text } = await admin.submit(page, action, fields);
      expect([status, text.includes('Confirm your password')], `${page} ${action}`).to.deep.equal([403, true]);
      for (const value of Object.values(fields)) expect(text, 'is sent again').to.contain(`value="${value}"`);
    }
    expect(await host.users.get(id)).not.to.equal(null);
    expect((await admin.open('tools/backup')).text).to.contain(name);
    expect(host.plugins.list().find(({ slug }) => slug === 'hello')?.state).to.equal('active');
  });

  it('is needed over REST to switch plugins, with the password if it is too old', async () => {
    const nonce = await (await host.fetch('/admin/rest-nonce', { headers: { cookie: admin.cookie } })).text();
    const { password: secret } = await createApplicationPasswords(host).create(admin.user.id, 'test');
    const program = `Basic ${Buffer.from(`${admin.user.login}:${secret}`).toString('base64')}`;
    const call = async (headers: Record<string, string>, method: string, json: object) => {
      const response = await host.fetch('/wp-json/wp/v2/plugins/hello', {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(json),
      });
      return [response.status, ((await response.json()) as { code?: string }).code ?? 'done'];
    };
    const session = { cookie: admin.cookie, 'x-wp-nonce': nonce };
    const off = { status: 'inactive' };
    expect(await call({ authorization: program }, 'POST', off)).to.deep.equal([
      403,
      'application_password_not_allowed',
    ]);
    expect(await call(session, 'POST', off)).to.deep.equal([403, 'fresh_sign_in_required']);
    const current_password = 'orchid lantern gravel spoon';
    expect(await call(session, 'POST', { ...off, current_password })).to.deep.equal([200, 'done']);
  });
});
