import { expect } from 'chai';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { ada, openNode } from './helper.ts';

const day = 24 * 3_600_000;
const visitor = { ip: '203.0.113.9', userAgent: 'test browser' };

describeDialects('sessions', (open) => {
  it('are found by their token, which is not stored', async () => {
    const { users, sessions, database } = await openNode(open);
    const { id } = await users.create(ada);
    const { token, session } = await sessions.create({ userId: id, ...visitor });
    expect(token).to.match(/^[\w-]{43}$/);
    expect(await sessions.find(token)).to.deep.equal(session);
    expect(session).to.include({ userId: id, ...visitor });
    expect(JSON.stringify(await database.knex('sessions'))).not.to.include(token);
    for (const wrong of ['', session.id, `${token}x`, token.slice(1), `${token.slice(0, -1)}!`])
      expect(await sessions.find(wrong), wrong).to.equal(null);
  });

  it('last 14 days from their last use, or 2 when not to be remembered', async () => {
    const clock = createFakeClock();
    const { users, sessions } = await openNode(open, { clock });
    const { id } = await users.create(ada);
    const long = await sessions.create({ userId: id, ...visitor });
    const short = await sessions.create({ userId: id, ...visitor, remember: false });
    clock.jump(2 * day);
    expect(await sessions.find(short.token)).to.equal(null);
    clock.jump(11 * day);
    expect(await sessions.find(long.token)).not.to.equal(null);
    clock.jump(13 * day);
    expect((await sessions.find(long.token))?.expiresAt).to.equal(clock.now() + 4 * day);
  });

  it('end 30 days after the sign-in, however often they are used', async () => {
    const clock = createFakeClock();
    const { users, sessions, database } = await openNode(open, { clock });
    const { id } = await users.create(ada);
    const { token } = await sessions.create({ userId: id, ...visitor });
    for (let passed = 0; passed < 29; passed += 1) {
      clock.jump(day);
      expect(await sessions.find(token)).not.to.equal(null);
    }
    // Sessions of earlier versions have no end in their row.
    await database.knex('sessions').update({ expires_at: clock.now() + 14 * day });
    clock.jump(day);
    expect(await sessions.find(token)).to.equal(null);
    expect(await sessions.list(id)).to.deep.equal([]);
  });

  it('are listed, ended one by one and together, on every node at once', async () => {
    const clock = createFakeClock();
    const [here, there] = [await openNode(open, { clock }), await openNode(open, { clock })];
    const { id } = await here.users.create(ada);
    const made = [];
    for (const userAgent of ['one', 'two', 'three']) {
      made.push(await here.sessions.create({ userId: id, ip: visitor.ip, userAgent }));
      clock.jump(1000);
    }
    expect((await there.sessions.list(id)).map(({ userAgent }) => userAgent)).to.deep.equal(['three', 'two', 'one']);
    await there.sessions.destroy(made[0]!.session.id);
    expect(await here.sessions.find(made[0]!.token)).to.equal(null);
    expect(await there.sessions.destroyAll(id, made[1]!.session.id)).to.equal(1);
    expect((await here.sessions.list(id)).map(({ userAgent }) => userAgent)).to.deep.equal(['two']);
    expect(await there.sessions.destroyAll(id)).to.equal(1);
    expect(await here.sessions.find(made[1]!.token)).to.equal(null);
  });

  it('leave no rows behind once they have expired', async () => {
    const clock = createFakeClock();
    const { users, sessions, database } = await openNode(open, { clock });
    const { id } = await users.create(ada);
    await sessions.create({ userId: id, ...visitor });
    clock.jump(15 * day);
    await sessions.create({ userId: id, ...visitor });
    expect(await database.knex('sessions')).to.have.length(1);
  });
});
