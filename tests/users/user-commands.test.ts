import { expect } from 'chai';
import { userCommands } from '../../host/cli/user-commands.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { ada, openNode, rejection } from './helper.ts';

describeDialects('user commands', (open) => {
  async function commands() {
    const node = await openNode(open);
    const byName = new Map(userCommands(node).map((command) => [command.name, command]));
    const run = (name: string, args: readonly string[], flags: Readonly<Record<string, unknown>> = {}) =>
      byName.get(name)!.run({ args, flags }) as Promise<Record<string, unknown>>;
    return { ...node, run };
  }

  it('create a user with the given password and print the id', async () => {
    const { run, users } = await commands();
    const printed = await run('user create', ['ada', 'ada@example.com'], {
      display_name: 'Ada',
      user_pass: ada.password,
      role: 'editor',
    });
    expect(printed).to.deep.equal({
      id: (await users.find('ada'))!.id,
      login: 'ada',
      email: 'ada@example.com',
      display_name: 'Ada',
      roles: 'editor',
    });
    expect((await users.verify('ada', ada.password))?.roles).to.deep.equal(['editor']);
  });

  it('make a password when none is given and show it once', async () => {
    const { run, users } = await commands();
    const { password, ...printed } = await run('user create', ['ada', 'ada@example.com'], { role: 'subscriber' });
    expect(printed).to.include({ display_name: 'ada', roles: 'subscriber' });
    expect(password).to.match(/^\w{24}$/);
    expect(await users.verify('ada', password as string)).not.to.equal(null);
  });

  it('list the sessions of a user and end one or all', async () => {
    const { run, users, sessions } = await commands();
    const { id: userId } = await users.create(ada);
    for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      await sessions.create({ userId, ip, userAgent: `Browser at ${ip}` });
    const list = async (): Promise<Record<string, unknown>[]> => (await run('user session list', [ada.login])) as never;
    const listed = await list();
    expect(listed.map(({ ip }) => ip)).to.have.members(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    expect(listed[0]).to.include.keys('id', 'signed_in', 'last_seen', 'expires', 'user_agent');
    for (const args of [[], ['x'], ['']])
      expect((await rejection(run('user session destroy', [ada.login, ...args]))).message).to.contain('session');
    expect(await list()).to.have.length(3);
    const [first] = listed;
    expect(await run('user session destroy', [ada.login, String(first?.['id'])])).to.include({ ended: 1 });
    expect((await list()).map(({ ip }) => ip)).not.to.include(first?.['ip']);
    expect(await run('user session destroy', [String(userId)], { all: true })).to.include({ ended: 2 });
    expect(await list()).to.deep.equal([]);
  });

  it('list users, also of one role', async () => {
    const { run, users } = await commands();
    await users.create(ada);
    await run('user create', ['bob', 'bob@example.com'], { role: 'subscriber' });
    expect(await run('user list', [])).to.have.length(2);
    expect(await run('user list', [], { role: 'subscriber' })).to.deep.equal([
      {
        id: (await users.find('bob'))!.id,
        login: 'bob',
        email: 'bob@example.com',
        display_name: 'bob',
        roles: 'subscriber',
      },
    ]);
  });

  it('set a password by id, login or address', async () => {
    const { run, users } = await commands();
    const { id } = await users.create(ada);
    expect(await run('user set-password', ['ada', 'the first new one'])).to.deep.equal({ id, login: 'Ada' });
    expect(await run('user set-password', ['ada@example.com'], { user_pass: 'the second new one' })).to.deep.equal({
      id,
      login: 'Ada',
    });
    expect(await users.verify('ada', 'the second new one')).not.to.equal(null);
    const { password } = await run('user set-password', [String(id)]);
    expect(await users.verify('ada', password as string)).not.to.equal(null);
    expect((await rejection(run('user set-password', ['nobody', 'long enough to keep']))).message).to.equal(
      "User 'nobody' does not exist. Run 'user list' to see all users.",
    );
  });
});
