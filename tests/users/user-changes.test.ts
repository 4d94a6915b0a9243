import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { ada, bob, openNode, rejection } from './helper.ts';

describeDialects('changes of users', (open) => {
  it('keep what is left out, and are told to plugins with the user as it was', async () => {
    const { users, hooks } = await openNode(open);
    const { id } = await users.create(bob);
    const told: unknown[] = [];
    hooks.addAction('profile_update', (changed, before) => told.push([changed, before.displayName]));
    const after = await users.update(id, { displayName: '  Bob\nB ' });
    expect([after.displayName, after.email, after.login]).to.deep.equal(['Bob B', bob.email, bob.login]);
    expect(await users.list({ search: 'bob b' })).to.have.length(1);
    expect(told).to.deep.equal([[id, 'bob']]);
  });

  it('of roles end the sessions, and are told', async () => {
    const { users, hooks, sessions } = await openNode(open);
    await users.create(ada);
    const { id } = await users.create(bob);
    const told: unknown[] = [];
    hooks.addAction('set_user_role', (...args) => told.push(args));
    const { token } = await sessions.create({ userId: id, ip: '', userAgent: '' });
    await users.update(id, { roles: ['subscriber'], email: 'bob@example.org' });
    expect(await sessions.find(token)).not.to.equal(null);
    expect((await users.update(id, { roles: ['editor'] })).can('edit_pages')).to.equal(true);
    expect(await sessions.find(token)).to.equal(null);
    expect(told).to.deep.equal([[id, 'editor', ['subscriber']]]);
  });

  it('of the password end all sessions but the one that asks', async () => {
    const { users, sessions } = await openNode(open);
    const { id } = await users.create(bob);
    const mine = await sessions.create({ userId: id, ip: '', userAgent: '' });
    const other = await sessions.create({ userId: id, ip: '', userAgent: '' });
    await users.update(id, { password: 'a better one' }, { keepSession: mine.session.id });
    expect(
      [await sessions.find(mine.token), await sessions.find(other.token)].map((session) => session !== null),
    ).to.deep.equal([true, false]);
    expect(await users.verify('bob', 'a better one')).not.to.equal(null);
  });

  it('are refused with a sentence a member, and nothing is changed', async () => {
    const { users } = await openNode(open);
    await users.create(ada);
    const { id } = await users.create(bob);
    const error = await rejection(
      users.update(id, { email: 'nobody', displayName: ' ', roles: ['king'], password: 'short' }),
    );
    expect([error.code, Object.keys((error.data as { params: object }).params)]).to.deep.equal([
      'rest_invalid_param',
      ['email', 'display_name', 'role', 'password'],
    ]);
    expect((await rejection(users.update(id, { email: ada.email.toUpperCase(), displayName: 'x' }))).code).to.equal(
      'existing_user_email',
    );
    expect((await users.get(id))?.displayName).to.equal('bob');
    expect((await rejection(users.update(999, { displayName: 'x' }))).code).to.equal('rest_user_invalid_id');
  });

  it('never take the last administrator away, on two nodes at once neither', async () => {
    const one = await openNode(open);
    const two = await openNode(open);
    const first = await one.users.create(ada);
    const second = await one.users.create({ ...bob, role: 'administrator' });
    const outcomes = await Promise.allSettled([one.users.update(first.id, { roles: [] }), two.users.delete(second.id)]);
    expect(outcomes.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    expect(await one.users.hasAdministrator()).to.equal(true);
  });

  it('remove sessions and application passwords with their user', async () => {
    const { users, sessions, applicationPasswords, hooks } = await openNode(open);
    await users.create(ada);
    const { id } = await users.create(bob);
    const { token } = await sessions.create({ userId: id, ip: '', userAgent: '' });
    await applicationPasswords.create(id, 'x');
    const told: unknown[] = [];
    hooks.addAction('deleted_user', (removed, reassignTo, user) => told.push([removed, reassignTo, user.login]));
    expect(await users.delete(id)).to.equal(true);
    expect(await users.delete(id)).to.equal(false);
    expect([await users.get(id), await sessions.find(token), await applicationPasswords.list(id)]).to.deep.equal([
      null,
      null,
      [],
    ]);
    expect(told).to.deep.equal([[id, null, 'bob']]);
  });

  it('stand for capabilities: everybody may edit themselves, none but administrators others', async () => {
    const { users } = await openNode(open);
    const admin = await users.create(ada);
    const member = await users.create(bob);
    expect([
      member.can('edit_user', member.id),
      member.can('edit_user', admin.id),
      member.can('delete_user', member.id),
      member.can('promote_user', member.id),
    ]).to.deep.equal([true, false, false, false]);
    expect(
      admin.can('edit_user', member.id) && admin.can('delete_user', member.id) && admin.can('promote_user', member.id),
    ).to.equal(true);
    expect([users.anonymous.can('edit_user', 0), users.anonymous.can('edit_user')]).to.deep.equal([false, false]);
  });
});
