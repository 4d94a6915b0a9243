import { expect } from 'chai';
import { dummyHash, hashPassword } from '../../host/users/passwords.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { ada, bob, openNode, rejection } from './helper.ts';

describeDialects('users', (open) => {
  it('are created with argon2id, found by id, login and address without regard to case', async () => {
    const { users, database } = await openNode(open);
    const created = await users.create(ada);
    expect(created).to.deep.include({
      login: 'Ada',
      email: 'Ada@Example.com',
      displayName: 'Ada Lovelace',
      roles: ['administrator'],
    });
    expect(created.id).to.be.a('number').and.above(0);
    for (const found of [await users.get(created.id), await users.find('aDA'), await users.find(' ada@EXAMPLE.com ')])
      expect(found?.id).to.equal(created.id);
    const row = await database.knex('users').first<{ password_hash: string }>('password_hash');
    expect(row.password_hash).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await users.get(999)).to.equal(null);
    for (const odd of [0, -1, 1.5, NaN, 1e12]) expect(await users.get(odd)).to.equal(null);
    expect(await users.find('nobody')).to.equal(null);
  });

  it('are subscribers named by their login unless told otherwise', async () => {
    const { users } = await openNode(open);
    expect(await users.create(bob)).to.deep.include({ displayName: 'bob', roles: ['subscriber'] });
  });

  it('are listed in order of id, by role and in pages', async () => {
    const { users } = await openNode(open);
    await users.create(ada);
    for (const name of ['b1', 'b2', 'b3']) await users.create({ ...bob, login: name, email: `${name}@example.com` });
    expect((await users.list()).map(({ login }) => login)).to.deep.equal(['Ada', 'b1', 'b2', 'b3']);
    expect((await users.list({ limit: 2, offset: 1 })).map(({ login }) => login)).to.deep.equal(['b1', 'b2']);
    expect((await users.list({ role: 'administrator' })).map(({ login }) => login)).to.deep.equal(['Ada']);
    expect(await users.list({ role: '%' })).to.deep.equal([]);
    expect(await users.count()).to.equal(4);
  });

  it('are refused with a sentence for each bad member', async () => {
    const { users } = await openNode(open);
    const error = await rejection(
      users.create({ login: 'a<b>', email: 'nowhere', password: 'short', displayName: 'x'.repeat(251), role: 'king' }),
    );
    expect(error).to.include({ code: 'rest_invalid_param', status: 400 });
    expect((error.data as { params: object }).params).to.have.all.keys(
      'login',
      'email',
      'password',
      'display_name',
      'role',
    );
    for (const login of ['', ' ', 'x'.repeat(61), 'a\nb', 'ü', "a'b"])
      expect((await rejection(users.create({ ...bob, login }))).code, login).to.equal('rest_invalid_param');
    for (const email of ['a@', '@b', 'a b@c', 'a@b@c', 'a@b\nBcc: x'])
      expect((await rejection(users.create({ ...bob, email }))).code, email).to.equal('rest_invalid_param');
    expect((await rejection(users.create({ ...bob, password: 'x'.repeat(1025) }))).code).to.equal('rest_invalid_param');
    expect(await users.count()).to.equal(0);
  });

  it('share neither login nor address, in whatever case', async () => {
    const { users } = await openNode(open);
    await users.create(ada);
    const byLogin = await rejection(users.create({ ...bob, login: 'ADA' }));
    expect(byLogin).to.include({ code: 'existing_user_login', status: 400 });
    expect(byLogin.data).to.deep.equal({ params: { login: 'This user name is taken. Choose another one.' } });
    expect(await rejection(users.create({ ...bob, email: 'ada@example.com' }))).to.include({
      code: 'existing_user_email',
      status: 400,
    });
  });

  it('are created once when two nodes create the same at once', async () => {
    const [one, two] = [await openNode(open), await openNode(open)];
    const outcomes = await Promise.allSettled([
      one.users.create(bob),
      two.users.create(bob),
      one.users.create({ ...bob, login: 'bob2' }),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect((outcome.reason as { code: string }).code).to.match(/^existing_user_/);
  });

  it('are verified by login or address and password', async () => {
    const { users } = await openNode(open);
    const { id } = await users.create({ ...ada, password: 'pässwords №1' });
    expect((await users.verify('ada', 'pässwords №1'))?.id).to.equal(id);
    expect((await users.verify('ada@example.com', 'pässwords №1'.normalize('NFD')))?.id).to.equal(id);
    expect(await users.verify('ada', 'pässword №2')).to.equal(null);
    expect(await users.verify('nobody', 'pässwords №1')).to.equal(null);
    expect(await users.verify('', '')).to.equal(null);
  });

  it('get a new password, which ends their sessions and leaves those of others', async () => {
    const { users, sessions } = await openNode(open);
    const [first, second] = [await users.create(ada), await users.create(bob)];
    const visitor = { ip: '203.0.113.9', userAgent: 'test' };
    const mine = await sessions.create({ userId: first.id, ...visitor });
    const theirs = await sessions.create({ userId: second.id, ...visitor });
    await users.setPassword(first.id, 'a new password');
    expect(await users.verify('ada', ada.password)).to.equal(null);
    expect((await users.verify('ada', 'a new password'))?.id).to.equal(first.id);
    expect(await sessions.find(mine.token)).to.equal(null);
    expect(await sessions.find(theirs.token)).not.to.equal(null);
    expect((await rejection(users.setPassword(first.id, 'short'))).code).to.equal('rest_invalid_param');
    expect((await rejection(users.setPassword(999, 'long enough to keep'))).message).to.equal('Invalid user ID.');
  });

  it('tell plugins of a new user and of a change', async () => {
    const { users, hooks } = await openNode(open);
    const told: unknown[] = [];
    hooks.addAction('user_register', (id: number) => told.push(['register', id]));
    hooks.addAction('profile_update', (id: number) => told.push(['update', id]));
    const { id } = await users.create(bob);
    await users.setPassword(id, 'a new password');
    expect(told).to.deep.equal([
      ['register', id],
      ['update', id],
    ]);
  });

  it('know whether there is an administrator', async () => {
    const { users } = await openNode(open);
    await users.create(bob);
    expect(await users.hasAdministrator()).to.equal(false);
    await users.create(ada);
    expect(await users.hasAdministrator()).to.equal(true);
  });
});

describe('passwords', () => {
  it('of unknown users take as long as those of known ones: the dummy hash has the same settings', async () => {
    const settingsOf = (hash: string) => hash.split('$').slice(0, 4).concat(hash.replace(/[^$]/g, '-'));
    expect(settingsOf(dummyHash)).to.deep.equal(settingsOf(await hashPassword('any password')));
  });
});
