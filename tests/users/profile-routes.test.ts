import { expect } from 'chai';
import type { User } from '#plugin-api';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { openSite, type Call, type RoutesSite } from './routes-site.ts';

describeSharedHosts('what people tell about themselves, in /wp/v2/users', (dialectCase) => {
  const shared = shareSite(() => openSite(dialectCase));
  let site: RoutesSite;
  let anna: User;
  let asAnna: Call;
  let asAdmin: Call;
  beforeEach(async () => {
    site = shared();
    asAdmin = await site.as(await site.create({ login: 'admin', role: 'administrator' }));
    anna = await site.create({ login: 'Anna B', displayName: 'Änne Bauer', role: 'author' });
    asAnna = await site.as(anna);
  });

  const everywhere = ['id', 'name', 'url', 'description', 'link', 'slug', 'avatar_urls'];
  const onlyEdit = [
    'username',
    'first_name',
    'last_name',
    'email',
    'locale',
    'nickname',
    'registered_date',
    'roles',
    'capabilities',
    'extra_capabilities',
  ];

  it('stands in the contexts in which WordPress shows it', async () => {
    const keys = async (context: string): Promise<string[]> =>
      Object.keys((await asAnna(`/wp/v2/users/me?context=${context}`)).body as object).filter(
        (key) => key !== '_links',
      );
    expect(await keys('view')).to.have.members(everywhere);
    expect(await keys('embed')).to.have.members(everywhere);
    expect(await keys('edit')).to.have.members([...everywhere, ...onlyEdit]);
  });

  it('begins empty, with a nickname made from the login and a slug made from the display name', async () => {
    const { body } = await asAnna('/wp/v2/users/me?context=edit');
    expect(body).to.include({
      first_name: '',
      last_name: '',
      url: '',
      description: '',
      locale: '',
      nickname: 'Anna B',
      slug: 'anne-bauer',
      link: `${site.host.url}/?author=${anna.id}`,
    });
  });

  it('is told when a user is made and changed, by themselves too', async () => {
    const told = {
      first_name: 'Dora',
      last_name: 'Dorn',
      nickname: 'D',
      url: 'https://dora.example/',
      description: 'Two\nlines & <b>more</b>',
      locale: 'de_DE',
      slug: 'Dóra Dorn',
    };
    const made = await asAdmin('/wp/v2/users', {
      method: 'POST',
      json: { username: 'dora', email: 'dora@example.com', password: 'correct horse', ...told },
    });
    expect(made.status).to.equal(201);
    expect(made.body).to.include({ ...told, slug: 'dora-dorn' });
    const changed = await asAnna('/wp/v2/users/me', {
      method: 'PATCH',
      json: { first_name: ' Anna ', url: '', slug: 'anna' },
    });
    expect(changed.body).to.include({ first_name: 'Anna', url: '', slug: 'anna', nickname: 'Anna B' });
    expect((await asAdmin('/wp/v2/users?slug=anna,dora-dorn&_fields=slug&orderby=slug')).body).to.deep.equal([
      { slug: 'anna' },
      { slug: 'dora-dorn' },
    ]);
  });

  it('is refused with a sentence a member', async () => {
    const { status, body } = await asAnna('/wp/v2/users/me', {
      method: 'PUT',
      json: { url: 'javascript:alert(1)', locale: 'German', nickname: ' ', slug: '!?', first_name: 'x'.repeat(251) },
    });
    expect([status, body.code, Object.keys(body.data.params as object).sort()]).to.deep.equal([
      400,
      'rest_invalid_param',
      ['first_name', 'locale', 'nickname', 'slug', 'url'],
    ]);
    expect((await asAnna('/wp/v2/users/me', { method: 'PUT', json: { slug: 'admin' } })).body).to.include({
      code: 'rest_user_invalid_slug',
      message: 'Invalid slug.',
    });
    expect(
      (
        await asAdmin('/wp/v2/users', {
          method: 'POST',
          json: { username: 'x', email: 'x@example.com', password: 'correct horse', slug: 'admin' },
        })
      ).body,
    ).to.include({ code: 'rest_user_invalid_slug' });
  });

  it('gives each user a slug of their own', async () => {
    const slugs = [];
    for (const login of ['anna.b', 'anna@b', '...', '@@'])
      slugs.push((await site.create({ login, email: `u${slugs.length}@example.com` })).profile?.slug);
    expect(slugs).to.deep.equal(['anna-b', 'anna-b-2', 'user', 'user-2']);
  });

  it('does not reveal the login in the slug or in a search', async () => {
    const carl = await site.create({ login: 'carl-77', displayName: 'Carl Cole', role: 'author' });
    const dan = await site.create({ login: 'dan-88', role: 'author' });
    site.host.hooks.addFilter('rest_public_authors', () => [carl.id, dan.id]);
    expect([carl.profile?.slug, dan.profile?.slug]).to.deep.equal(['carl-cole', 'dan-88']);
    const renamed = await site.host.users.update(dan.id, { displayName: 'Dan Dole' });
    expect(renamed.profile?.slug).to.equal('dan-dole');
    const names = async (search: string): Promise<string[]> =>
      ((await site.call(`/wp/v2/users?search=${search}`)).body as { name: string }[]).map(({ name }) => name);
    expect(await names('carl')).to.deep.equal(['Carl Cole']);
    expect(await names('carl-77')).to.deep.equal([]);
    expect(JSON.stringify((await site.call('/wp/v2/users')).body)).not.to.match(/carl-77|dan-88/);
    const chosen = await site.host.users.update(dan.id, { profile: { slug: 'dan-88' } });
    expect(chosen.profile?.slug).to.equal('dan-88');
  });

  it('has pictures that are made here, and that a plugin may replace', async () => {
    const { avatar_urls: urls } = (await asAnna('/wp/v2/users/me')).body as { avatar_urls: Record<string, string> };
    expect(Object.keys(urls)).to.deep.equal(['24', '48', '96']);
    for (const url of Object.values(urls)) expect(url.startsWith(`${site.host.url}/avatars/`), url).to.equal(true);
    const response = await fetch(urls['96'] ?? '');
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('cache-control'),
    ]).to.deep.equal([200, 'image/svg+xml; charset=utf-8', 'public, max-age=31536000, immutable']);
    expect(await response.text())
      .to.contain('width="96"')
      .and.contain('>Ä</text>');
    site.host.hooks.addFilter(
      'get_avatar_url',
      (url, user, { size }) => `https://pictures.example/${user.login}/${size}`,
    );
    expect((await asAnna('/wp/v2/users/me')).body.avatar_urls['48']).to.equal('https://pictures.example/Anna B/48');
  });

  it('draws nothing but one letter', async () => {
    const statusOf = async (path: string): Promise<number> => (await site.host.fetch(`/avatars/${path}`)).status;
    expect(await statusOf('96/7/%E2%80%A2.svg')).to.equal(200);
    for (const path of [
      '96/7/%3Cscript%3E.svg',
      '96/7/abc.svg',
      '96/7/%26.svg',
      '0/7/A.svg',
      '99999/7/A.svg',
      '96/7/%.svg',
      '96/A.svg',
    ])
      expect(await statusOf(path), path).to.equal(404);
    const head = await site.host.fetch('/avatars/96/7/A.svg', { method: 'HEAD' });
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
  });
});

describeSharedHosts('application passwords by name and by their own request', (dialectCase) => {
  const shared = shareSite(() => openSite(dialectCase));
  let site: RoutesSite;
  let anna: User;
  let call: Call;
  const base = '/wp/v2/users/me/application-passwords';
  beforeEach(async () => {
    site = shared();
    anna = await site.create({ login: 'anna' });
    call = await site.as(anna);
  });

  it('are renamed, and go on signing in', async () => {
    const [{ uuid }] = (await call(base)).body as [{ uuid: string }];
    for (const [method, name] of [
      ['PUT', 'one'],
      ['PATCH', 'two'],
      ['POST', 'three'],
    ] as const) {
      const { status, body } = await call(`${base}/${uuid}`, { method, json: { name: ` ${name} ` } });
      expect([status, body.uuid, body.name, body.app_id]).to.deep.equal([200, uuid, name, '']);
    }
    const appId = '11111111-2222-4333-8444-555555555555';
    expect((await call(`${base}/${uuid}`, { method: 'PUT', json: { app_id: appId } })).body)
      .to.include({ name: 'three', app_id: appId })
      .and.not.have.property('password');
    expect((await call(`${base}/${uuid}`, { method: 'PUT', json: {} })).body).to.include({
      name: 'three',
      app_id: appId,
    });
  });

  it('are not renamed to nothing, by others, or when they are gone', async () => {
    const [{ uuid }] = (await call(base)).body as [{ uuid: string }];
    expect((await call(`${base}/${uuid}`, { method: 'PUT', json: { name: ' ' } })).body.code).to.equal(
      'rest_invalid_param',
    );
    expect((await call(`${base}/none`, { method: 'PUT', json: { name: 'x' } })).body.code).to.equal(
      'rest_application_password_not_found',
    );
    const asBert = await site.as(await site.create({ login: 'bert', role: 'editor' }));
    const refused = await asBert(`/wp/v2/users/${anna.id}/application-passwords/${uuid}`, {
      method: 'PUT',
      json: { name: 'x' },
    });
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'rest_cannot_edit_application_password']);
    expect((await site.call(`${base}/${uuid}`, { method: 'PUT', json: { name: 'x' } })).status).to.equal(401);
    const asAdmin = await site.as(await site.create({ login: 'admin', role: 'administrator' }));
    expect(
      (
        await asAdmin(`/wp/v2/users/${anna.id}/application-passwords/${uuid}`, {
          method: 'PUT',
          json: { name: 'by the admin' },
        })
      ).body.name,
    ).to.equal('by the admin');
  });

  it('are introspected by the request that they sign in, and by no other', async () => {
    const inSession = await site.signedIn(anna);
    const other = (await inSession(base, { method: 'POST', json: { name: 'other' } })).body as {
      uuid: string;
      password: string;
    };
    expect((await call(`${base}/introspect`)).body)
      .to.include({ name: 'test' })
      .and.not.have.property('password');
    const asOther = await site.host.fetch(`/wp-json${base}/introspect`, {
      headers: { authorization: `Basic ${btoa(`anna:${other.password}`)}` },
    });
    expect(await asOther.json()).to.include({ uuid: other.uuid, name: 'other' });
    const asAdmin = await site.as(await site.create({ login: 'admin', role: 'administrator' }));
    const refused = await asAdmin(`/wp/v2/users/${anna.id}/application-passwords/introspect`);
    expect([refused.status, refused.body.code]).to.deep.equal([
      403,
      'rest_cannot_introspect_app_password_for_non_authenticated_user',
    ]);
    expect((await site.call(`${base}/introspect`)).status).to.equal(401);
    const inside = await site.host.rest.dispatch(`${base}/introspect`, { user: anna });
    expect([inside.status, (inside.body as { code: string }).code]).to.deep.equal([
      404,
      'rest_no_authenticated_app_password',
    ]);
  });
});
