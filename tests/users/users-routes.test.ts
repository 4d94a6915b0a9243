import { expect } from 'chai';
import type { User } from '#plugin-api';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openSite, type Call, type RoutesSite } from './routes-site.ts';

describeSharedHosts('/wp/v2/users', (dialectCase) => {
  const shared = shareSite(() => openSite(dialectCase));
  let site: RoutesSite;
  let admin: User;
  let asAdmin: Call;
  beforeEach(async () => {
    site = shared();
    admin = await site.create({ login: 'admin', role: 'administrator' });
    asAdmin = await site.as(admin);
  });

  const members = ['anna', 'Bert B', 'carl'];
  async function addMembers(): Promise<User[]> {
    const created: User[] = [];
    for (const login of members)
      created.push(await site.create({ login, role: login === 'carl' ? 'editor' : 'subscriber' }));
    return created;
  }

  it('lists by name with totals and links, and pages', async () => {
    await addMembers();
    const { status, headers, body } = await asAdmin('/wp/v2/users?per_page=2&page=2');
    expect(status).to.equal(200);
    expect(body.map(({ name }: { name: string }) => name)).to.deep.equal(['Bert B', 'carl']);
    expect([headers.get('x-wp-total'), headers.get('x-wp-totalpages')]).to.deep.equal(['4', '2']);
    expect(headers.get('link'))
      .to.contain('/wp-json/wp/v2/users?per_page=2&page=1>; rel="prev"')
      .and.not.to.contain('rel="next"');
    expect(body[0]._links.self[0].href).to.match(/\/wp-json\/wp\/v2\/users\/\d+$/);
    const past = await asAdmin('/wp/v2/users?page=9');
    expect([past.status, past.body, past.headers.get('x-wp-total')]).to.deep.equal([200, [], '4']);
    expect((await asAdmin('/wp/v2/users?per_page=101')).body.code).to.equal('rest_invalid_param');
  });

  it('finds by text, role, slug and id, in the order asked for', async () => {
    const [anna, bert, carl] = await addMembers();
    const names = async (query: string): Promise<string[]> =>
      (await asAdmin(`/wp/v2/users?${query}`)).body.map(({ name }: { name: string }) => name);
    expect(await names('search=BERT')).to.deep.equal(['Bert B']);
    expect(await names('search=%25')).to.deep.equal([]);
    expect(await names('search=carl@example')).to.deep.equal(['carl']);
    expect(await names('roles=editor,administrator')).to.deep.equal(['admin', 'carl']);
    expect(await names('slug=bert-b')).to.deep.equal(['Bert B']);
    expect(await names(`include=${carl!.id},${anna!.id}&orderby=include`)).to.deep.equal(['carl', 'anna']);
    expect(await names(`exclude=${bert!.id}&orderby=id&order=desc`)).to.deep.equal(['carl', 'anna', 'admin']);
  });

  it('shows visitors nobody, users themselves, and both the authors a plugin names', async () => {
    const [anna, , carl] = await addMembers();
    const asAnna = await site.as(anna!);
    expect((await site.call('/wp/v2/users')).body).to.deep.equal([]);
    expect((await asAnna('/wp/v2/users')).body.map(({ id }: User) => id)).to.deep.equal([anna!.id]);
    expect((await asAnna('/wp/v2/users?search=anna@example')).body).to.deep.equal([]);
    expect((await site.call(`/wp/v2/users/${carl!.id}`)).body).to.include({
      code: 'rest_user_cannot_view',
      message: 'Sorry, you are not allowed to list users.',
    });
    site.host.hooks.addFilter('rest_public_authors', (ids) => [...ids, carl!.id]);
    expect((await site.call('/wp/v2/users')).body.map(({ id }: User) => id)).to.deep.equal([carl!.id]);
    const { status, body } = await site.call(`/wp/v2/users/${carl!.id}`);
    expect(status).to.equal(200);
    expect(Object.keys(body)).to.deep.equal([
      'id',
      'name',
      'url',
      'description',
      'link',
      'slug',
      'avatar_urls',
      '_links',
    ]);
  });

  it('refuses what a caller may not ask, with 401 for visitors and 403 for users', async () => {
    const [anna, , carl] = await addMembers();
    const asAnna = await site.as(anna!);
    const refusals = [
      [site.call, '/wp/v2/users?roles=editor', 401, 'rest_user_cannot_view'],
      [asAnna, '/wp/v2/users?context=edit', 403, 'rest_forbidden_context'],
      [asAnna, '/wp/v2/users?orderby=email', 403, 'rest_forbidden_orderby'],
      [asAnna, `/wp/v2/users/${carl!.id}?context=edit`, 403, 'rest_forbidden_context'],
      [asAnna, '/wp/v2/users/999999', 404, 'rest_user_invalid_id'],
      [site.call, '/wp/v2/users/me', 401, 'rest_not_logged_in'],
    ] as const;
    for (const [call, path, status, code] of refusals) {
      const { status: answered, body } = await call(path);
      expect([path, answered, body.code]).to.deep.equal([path, status, code]);
    }
  });

  it('answers /users/me, with roles and capabilities in the context edit', async () => {
    const view = await asAdmin('/wp/v2/users/me?_fields=id,name,slug');
    expect(view.body).to.deep.equal({ id: admin.id, name: 'admin', slug: 'admin' });
    expect(view.headers.get('allow')).to.equal('GET, POST, PUT, PATCH, DELETE');
    const { body } = await asAdmin('/wp/v2/users/me?context=edit');
    expect(body).to.include({
      username: 'admin',
      email: 'admin@example.com',
      registered_date: '2026-01-01T00:00:00+00:00',
    });
    expect(body.roles).to.deep.equal(['administrator']);
    expect(body.capabilities).to.include({ manage_options: true });
    const renamed = await asAdmin('/wp/v2/users/me', { method: 'POST', json: { name: 'Ada' } });
    expect([renamed.status, renamed.body.name, (await site.host.users.get(admin.id))?.displayName]).to.deep.equal([
      200,
      'Ada',
      'Ada',
    ]);
  });

  it('creates with 201, Location and the context edit', async () => {
    const inSession = await site.signedIn(admin);
    const { status, headers, body } = await inSession('/wp/v2/users', {
      method: 'POST',
      json: {
        username: 'dora',
        email: 'dora@example.com',
        password: 'correct horse',
        name: 'Dora D',
        roles: ['author', 'editor'],
      },
    });
    expect(status).to.equal(201);
    expect(headers.get('location')).to.equal(`${site.host.url}/wp-json/wp/v2/users/${body.id}`);
    expect(body)
      .to.include({ username: 'dora', name: 'Dora D', email: 'dora@example.com' })
      .and.not.to.have.property('password');
    expect(body.roles).to.deep.equal(['author', 'editor']);
    expect(await site.host.users.verify('dora', 'correct horse')).not.to.equal(null);
  });

  it('says what is wrong with a new user', async () => {
    const create = (json: object): ReturnType<Call> => asAdmin('/wp/v2/users', { method: 'POST', json });
    expect((await create({ username: 'x' })).body).to.deep.include({
      code: 'rest_missing_callback_param',
      data: { status: 400, params: ['email', 'password'] },
    });
    const bad = await create({ username: 'a/b', email: 'a@example.com', password: 'short' });
    expect([bad.status, bad.body.code, Object.keys(bad.body.data.params)]).to.deep.equal([
      400,
      'rest_invalid_param',
      ['username', 'password'],
    ]);
    expect(
      (await create({ username: 'ADMIN', email: 'a@example.com', password: 'long enough to keep' })).body,
    ).to.include({
      code: 'existing_user_login',
    });
    expect(
      (await create({ username: 'new', email: 'a@example.com', password: 'long enough to keep', roles: ['king'] }))
        .body,
    ).to.include({ code: 'rest_user_invalid_role', message: 'The role king does not exist.' });
    const [anna] = await addMembers();
    const refused = await (
      await site.as(anna!)
    )('/wp/v2/users', {
      method: 'POST',
      json: { username: 'new', email: 'a@example.com', password: 'long enough to keep' },
    });
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'rest_cannot_create_user']);
  });

  it('changes others for those who may, and nobody gives themselves a role', async () => {
    const [anna, bert] = await addMembers();
    const asAnna = await site.as(anna!);
    const inSession = await site.signedIn(admin);
    const changed = await inSession(`/wp/v2/users/${anna!.id}`, {
      method: 'PUT',
      json: { email: 'new@example.com', roles: ['author'] },
    });
    expect([changed.status, changed.body.email, changed.body.roles]).to.deep.equal([
      200,
      'new@example.com',
      ['author'],
    ]);
    const refusals = [
      [asAnna, bert!.id, { name: 'x' }, 403, 'rest_cannot_edit'],
      [asAnna, 'me', { roles: ['administrator'] }, 403, 'rest_cannot_edit_roles'],
      [asAdmin, bert!.id, { username: 'other' }, 400, 'rest_user_invalid_argument'],
      [inSession, bert!.id, { email: 'new@example.com' }, 400, 'existing_user_email'],
      [inSession, admin.id, { roles: ['editor'] }, 400, 'rest_user_last_administrator'],
    ] as const;
    for (const [call, id, json, status, code] of refusals) {
      const { status: answered, body } = await call(`/wp/v2/users/${id}`, { method: 'POST', json });
      expect([code, answered, body.code]).to.deep.equal([code, status, code]);
    }
  });

  it('removes with force and a word on what they own, and tells plugins', async () => {
    const [anna, bert] = await addMembers();
    const told: unknown[] = [];
    site.host.hooks.addAction('delete_user', (id, reassignTo) => told.push([id, reassignTo]));
    const inSession = await site.signedIn(admin);
    const remove = (query: string, id = anna!.id): ReturnType<Call> =>
      inSession(`/wp/v2/users/${id}${query}`, { method: 'DELETE' });
    expect((await remove('?force=true')).body).to.deep.include({
      code: 'rest_missing_callback_param',
      data: { status: 400, params: ['reassign'] },
    });
    expect((await remove('?force=true&reassign=x')).body.code).to.equal('rest_invalid_param');
    expect([(await remove('?reassign=false')).status, (await remove('?reassign=false')).body.code]).to.deep.equal([
      501,
      'rest_trash_not_supported',
    ]);
    expect((await remove(`?force=true&reassign=${anna!.id}`)).body.code).to.equal('rest_user_invalid_reassign');
    expect((await remove('?force=true&reassign=false', admin.id)).body.code).to.equal('rest_user_last_administrator');
    const { status, body } = await remove(`?force=true&reassign=${bert!.id}`);
    expect([status, body.deleted, body.previous.username]).to.deep.equal([200, true, 'anna']);
    expect(await site.host.users.get(anna!.id)).to.equal(null);
    expect(told).to.deep.equal([[anna!.id, bert!.id]]);
    const refused = await (
      await site.as(bert!)
    )(`/wp/v2/users/${admin.id}?force=true&reassign=false`, { method: 'DELETE' });
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'rest_user_cannot_delete']);
  });
});

describeSharedHosts('/wp/v2/users/<id>/application-passwords', (dialectCase) => {
  const shared = shareSite(() => openSite(dialectCase));
  let site: RoutesSite;
  beforeEach(async () => {
    site = shared();
  });

  it('shows a new password once; it signs in until it is revoked', async () => {
    const anna = await site.create({ login: 'anna' });
    const call = await site.signedIn(anna);
    const path = '/wp/v2/users/me/application-passwords';
    const created = await call(path, {
      method: 'POST',
      json: { name: 'Backup script', app_id: '11111111-2222-4333-8444-555555555555' },
    });
    expect(created.status).to.equal(201);
    expect(created.body.password).to.match(/^(\w{4} ){5}\w{4}$/);
    expect(created.headers.get('location')).to.equal(
      `${site.host.url}/wp-json/wp/v2/users/${anna.id}/application-passwords/${created.body.uuid}`,
    );
    const header = `Basic ${Buffer.from(`anna:${created.body.password}`).toString('base64')}`;
    const me = (): Promise<Response> =>
      site.host.fetch('/wp-json/wp/v2/users/me', { headers: { authorization: header } });
    expect((await me()).status).to.equal(200);
    const listed = (await call(path)).body.find(({ uuid }: { uuid: string }) => uuid === created.body.uuid);
    expect(listed)
      .to.include({
        name: 'Backup script',
        app_id: '11111111-2222-4333-8444-555555555555',
        created: '2026-01-01T00:00:00',
        last_used: '2026-01-01T00:00:00',
      })
      .and.not.to.have.property('password');
    const revoked = await call(`${path}/${created.body.uuid}`, { method: 'DELETE' });
    expect([revoked.status, revoked.body.deleted, revoked.body.previous.name]).to.deep.equal([
      200,
      true,
      'Backup script',
    ]);
    expect((await me()).status).to.equal(401);
    expect((await call(`${path}/${created.body.uuid}`)).body.code).to.equal('rest_application_password_not_found');
  });

  it('belong to their user and to those who may edit users', async () => {
    const anna = await site.create({ login: 'anna' });
    const asBert = await site.as(await site.create({ login: 'bert' }));
    const asAdmin = await site.signedIn(await site.create({ login: 'admin', role: 'administrator' }));
    const path = `/wp/v2/users/${anna.id}/application-passwords`;
    const refused = await asBert(path);
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'rest_cannot_list_application_passwords']);
    expect((await asBert(path, { method: 'POST', json: { name: 'x' } })).body.code).to.equal(
      'rest_cannot_create_application_passwords',
    );
    expect((await site.call('/wp/v2/users/me/application-passwords')).body.code).to.equal('rest_not_logged_in');
    expect((await asAdmin(path, { method: 'POST', json: { name: ' ' } })).body.code).to.equal('rest_invalid_param');
    expect((await asAdmin(path, { method: 'POST', json: { name: 'x' } })).status).to.equal(201);
    expect((await asAdmin(path, { method: 'DELETE' })).body).to.deep.equal({ deleted: true, count: 1 });
  });
});
