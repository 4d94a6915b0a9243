import { expect } from 'chai';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { ada, bob, openNode, rejection } from './helper.ts';

const visitor = { ip: '203.0.113.9', userAgent: 'test browser' };
const basic = (login: string, password: string): string =>
  `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
const sent = (cookie: string): string => cookie.split(';')[0]!;

describeDialects('signing in', (open) => {
  it('opens a session whose cookie leads back to the user', async () => {
    const { users, authentication, hooks } = await openNode(open);
    const { id } = await users.create(ada);
    const told: unknown[] = [];
    hooks.addAction('wp_login', (login: string, user: { id: number }) => told.push([login, user.id]));
    const opened = await authentication.login({
      login: 'ada@example.com',
      password: ada.password,
      remember: true,
      ...visitor,
    });
    expect(opened?.user.id).to.equal(id);
    expect(opened?.cookie).to.match(/^svc_session=[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/);
    const found = await authentication.sessionUser({ headers: { cookie: `other=1; ${sent(opened!.cookie)}; more=2` } });
    expect(found).to.deep.include({ sessionId: opened?.sessionId });
    expect(found?.user.id).to.equal(id);
    expect(told).to.deep.equal([['Ada', id]]);
  });

  it('gives a cookie for https and this host alone where the site has https, and one that ends with the browser when not to be remembered', async () => {
    const { users, authentication } = await openNode(open, { siteUrl: 'https://site.example' });
    await users.create(ada);
    const opened = await authentication.login({ login: 'ada', password: ada.password, remember: false, ...visitor });
    expect(opened?.cookie).to.match(/^__Host-svc_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    const [pair = ''] = opened!.cookie.split(';');
    expect((await authentication.sessionUser({ headers: { cookie: pair } }))?.user.login).to.equal('Ada');
    const unprefixed = pair.replace('__Host-', '');
    expect(await authentication.sessionUser({ headers: { cookie: unprefixed } })).to.equal(null);
  });

  it('fails alike for an unknown user and a wrong password', async () => {
    const { users, authentication, hooks } = await openNode(open);
    await users.create(ada);
    const told: unknown[] = [];
    hooks.addAction('wp_login_failed', (login: string) => told.push(login));
    expect(
      await authentication.login({ login: 'ada', password: 'wrong password', remember: true, ...visitor }),
    ).to.equal(null);
    expect(
      await authentication.login({ login: 'nobody', password: 'wrong password', remember: true, ...visitor }),
    ).to.equal(null);
    expect(told).to.deep.equal(['ada', 'nobody']);
  });

  it('is stopped after ten tries on a name from an address, over all nodes, also with the right password', async () => {
    const clock = createFakeClock();
    const nodes = [await openNode(open, { clock }), await openNode(open, { clock })];
    await nodes[0]!.users.create(ada);
    const login = (node: number, changes: object = {}) =>
      nodes[node % 2]!.authentication.login({
        login: 'ada',
        password: 'wrong password',
        remember: true,
        ...visitor,
        ...changes,
      });
    for (let n = 0; n < 10; n += 1) expect(await login(n)).to.equal(null);
    const error = await rejection(login(0, { login: 'ADA', password: ada.password }));
    expect(error).to.include({
      code: 'too_many_login_attempts',
      status: 429,
      message: 'Too many sign-in attempts. Try again in 15 minutes.',
    });
    expect(error.headers).to.deep.equal({ 'Retry-After': '900' });
    expect(await login(1, { login: 'bob' })).to.equal(null);
    clock.jump(15 * 60_000);
    expect(await login(0, { password: ada.password })).not.to.equal(null);
  });

  it('lets no parallel tries slip through', async () => {
    const { users, limiter } = await openNode(open);
    await users.create(ada);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, () => limiter.spend({ account: 'ada', ip: visitor.ip })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(10);
  });

  it('counts anew after a success, takes an IPv6 network for one address, and limits an address over all names', async () => {
    const { limiter } = await openNode(open);
    const spend = (account: string, ip: string = visitor.ip): Promise<unknown> => limiter.spend({ account, ip });
    for (let n = 0; n < 9; n += 1) await spend('ada');
    await limiter.reset({ account: 'ada', ip: visitor.ip });
    for (let n = 0; n < 10; n += 1) await spend('ada');
    for (let n = 0; n < 10; n += 1) await spend('bob', `2001:db8::${n + 1}`);
    expect((await rejection(spend('bob', '2001:db8::ffff'))).status).to.equal(429);
    for (let n = 0; n < 100; n += 1) await spend(`name${n}`, '198.51.100.1');
    expect((await rejection(spend('name100', '198.51.100.1'))).status).to.equal(429);
  });

  it('leaves nothing readable in the table of tries, and no rows of the past', async () => {
    const clock = createFakeClock();
    const { limiter, database } = await openNode(open, { clock });
    await limiter.spend({ account: 'my password typed here', ip: visitor.ip });
    expect(JSON.stringify(await database.knex('login_attempts'))).not.to.match(/password|203/);
    clock.jump(25 * 3_600_000);
    await limiter.spend({ account: 'other', ip: '198.51.100.1' });
    expect(await database.knex('login_attempts')).to.have.length(3);
  });

  it('ends with signing out, on all nodes', async () => {
    const [here, there] = [await openNode(open), await openNode(open)];
    const opened = await here.authentication.openSession(await here.users.create(ada), visitor);
    const { cookie } = await there.authentication.logout(opened);
    expect(cookie).to.equal('svc_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
    expect(await here.authentication.sessionUser({ headers: { cookie: sent(opened.cookie) } })).to.equal(null);
  });
});

describeDialects('the caller of REST', (open) => {
  async function signedIn() {
    const node = await openNode(open);
    const user = await node.users.create(ada);
    const { cookie, sessionId } = await node.authentication.openSession(user, visitor);
    return { ...node, user, sessionId, cookie: sent(cookie), nonce: node.nonces.create('wp_rest', user, sessionId) };
  }

  it('is a visitor without credentials, with a key as Bearer token, and with a cookie but no nonce', async () => {
    const { authentication, cookie } = await signedIn();
    for (const headers of [{}, { authorization: 'Bearer some-key' }, { cookie }]) {
      const caller = await authentication.currentUser({ headers });
      expect([caller.id, caller.can('read')]).to.deep.equal([0, false]);
    }
  });

  it("is the session's user with cookie and nonce, in the header or the address", async () => {
    const { authentication, cookie, nonce, user } = await signedIn();
    expect((await authentication.currentUser({ headers: { cookie, 'x-wp-nonce': nonce } })).id).to.equal(user.id);
    expect(
      (await authentication.currentUser({ headers: { cookie }, url: `/wp-json/x?a=1&_wpnonce=${nonce}` })).id,
    ).to.equal(user.id);
  });

  it('is refused with a nonce that is wrong, of another action or of another session, cookie or not', async () => {
    const { authentication, nonces, cookie, nonce, user } = await signedIn();
    const wrong = [
      { cookie, 'x-wp-nonce': 'bad' },
      { cookie, 'x-wp-nonce': nonces.create('other', user, 'x') },
      { cookie, 'x-wp-nonce': nonces.create('wp_rest', user, 'other session') },
      { 'x-wp-nonce': nonce },
      { 'x-wp-nonce': '' },
    ];
    for (const headers of wrong) {
      expect(await rejection(authentication.currentUser({ headers }))).to.include({
        code: 'rest_cookie_invalid_nonce',
        status: 403,
        message: 'Cookie check failed',
      });
    }
  });

  it('is a visitor with the nonce of a visitor', async () => {
    const { authentication, nonces } = await signedIn();
    expect(
      (await authentication.currentUser({ headers: { 'x-wp-nonce': nonces.create('wp_rest', { id: 0 }, '') } })).id,
    ).to.equal(0);
  });

  it('is the owner of an application password that is sent with the nonce of a visitor', async () => {
    const { authentication, applicationPasswords, nonces, user } = await signedIn();
    const { password } = await applicationPasswords.create(user.id, 'script');
    const headers = { 'x-wp-nonce': nonces.create('wp_rest', { id: 0 }, ''), authorization: basic('ada', password) };
    expect((await authentication.currentUser({ headers, ip: '127.0.0.1' })).id).to.equal(user.id);
    const wrong = { ...headers, authorization: basic('ada', 'wrong') };
    expect((await rejection(authentication.currentUser({ headers: wrong, ip: '127.0.0.1' }))).status).to.equal(401);
  });

  it('confirms a change with a session of the user alone', async () => {
    const { authentication, users, cookie, user } = await signedIn();
    const call = { headers: { cookie }, ip: visitor.ip };
    await authentication.requireFreshSignIn(call, { user, password: undefined });
    const other = await users.create(bob);
    for (const password of [undefined, ada.password, bob.password])
      expect(await rejection(authentication.requireFreshSignIn(call, { user: other, password }))).to.include({
        code: 'fresh_sign_in_required',
        status: 403,
      });
  });

  it('is the owner of an application password, with or without its blanks', async () => {
    const { authentication, applicationPasswords, user } = await signedIn();
    const { password, item } = await applicationPasswords.create(user.id, 'script');
    expect(password).to.match(/^(\w{4} ){5}\w{4}$/);
    for (const form of [password, password.replaceAll(' ', '')]) {
      for (const login of ['ada', 'ADA@example.com']) {
        expect(
          (await authentication.currentUser({ headers: { authorization: basic(login, form) }, ip: '127.0.0.1' })).id,
        ).to.equal(user.id);
      }
    }
    expect(await applicationPasswords.list(user.id)).to.deep.equal([
      { ...item, lastUsedAt: item.createdAt, lastIp: '127.0.0.1' },
    ]);
  });

  it('is no owner of an application password over http from another machine, unless a plugin says so', async () => {
    const { authentication, applicationPasswords, hooks, user } = await signedIn();
    const { password } = await applicationPasswords.create(user.id, 'script');
    const call = { headers: { authorization: basic('ada', password) }, ip: visitor.ip };
    const error = await rejection(authentication.currentUser(call));
    expect(error).to.include({ code: 'application_passwords_disabled', status: 401 });
    for (const ip of ['::1', '::ffff:127.0.0.1'])
      expect((await authentication.currentUser({ ...call, ip })).id).to.equal(user.id);
    hooks.addFilter('wp_is_application_passwords_available', () => true);
    expect((await authentication.currentUser(call)).id).to.equal(user.id);
  });

  it('is the owner of an application password over https', async () => {
    const { users, authentication, applicationPasswords } = await openNode(open, { siteUrl: 'https://site.example' });
    const { id } = await users.create(ada);
    const { password } = await applicationPasswords.create(id, 'script');
    const call = { headers: { authorization: basic('ada', password) }, ip: visitor.ip };
    expect((await authentication.currentUser(call)).id).to.equal(id);
  });

  it("is refused with a wrong application password, another user's, the user's own password, or nonsense", async () => {
    const { authentication, applicationPasswords, users, user } = await signedIn();
    const other = await users.create(bob);
    const { password } = await applicationPasswords.create(user.id, 'script');
    const wrong = [
      basic('ada', 'wrong'),
      basic('bob', password),
      basic('nobody', password),
      basic('ada', ada.password),
      basic('ada', ''),
      'Basic !!!',
      'Basic bm9jb2xvbg==',
    ];
    for (const authorization of wrong) {
      const error = await rejection(authentication.currentUser({ headers: { authorization } }));
      expect(error, authorization).to.include({ code: 'incorrect_password', status: 401 });
    }
    expect(other.id).not.to.equal(user.id);
  });

  it('is refused once the application password is revoked, which only its owner can', async () => {
    const { authentication, applicationPasswords, user } = await signedIn();
    const { password, item } = await applicationPasswords.create(user.id, 'script');
    expect(await applicationPasswords.revoke(user.id + 1, item.id)).to.equal(false);
    expect(await applicationPasswords.revoke(user.id, item.id)).to.equal(true);
    expect(
      (await rejection(authentication.currentUser({ headers: { authorization: basic('ada', password) } }))).status,
    ).to.equal(401);
  });

  it("is the session's user behind a proxy that asks for a password of its own, and the application's user despite a stale nonce", async () => {
    const { authentication, applicationPasswords, cookie, nonce, user } = await signedIn();
    const proxy = basic('staging', 'gate');
    expect(
      (await authentication.currentUser({ headers: { cookie, 'x-wp-nonce': nonce, authorization: proxy } })).id,
    ).to.equal(user.id);
    const { password } = await applicationPasswords.create(user.id, 'script');
    expect(
      (await authentication.currentUser({ headers: { 'x-wp-nonce': 'stale', authorization: basic('ada', password) } }))
        .id,
    ).to.equal(user.id);
  });
});
