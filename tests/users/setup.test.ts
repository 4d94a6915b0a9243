import { expect } from 'chai';
import { migrations as optionMigrations } from '../../host/options/migrations.ts';
import { createOptions } from '../../host/options/options.ts';
import { createSetup } from '../../host/users/setup.ts';
import { migrations } from '../../host/users/migrations.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createUsers } from '../../host/users/users.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import type { OpenDatabase } from '../helpers/dialects.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';
import { ada, rejection } from './helper.ts';

async function openNode(open: OpenDatabase, key = 7) {
  const database = await open();
  await database.migrate('host', [...optionMigrations, ...migrations]);
  const hooks = createHooks();
  const clock = createFakeClock();
  const options = createOptions({ database, hooks, clock, log: silentLog });
  await options.load();
  const users = createUsers({ database, hooks, clock, log: silentLog });
  const setup = createSetup({
    users,
    options,
    database,
    key: () => Buffer.alloc(32, key),
    siteUrl: () => 'http://site.example',
  });
  return { database, options, users, setup };
}

const tokenOf = (link: string | null): string => new URL(link!).searchParams.get('token')!;
const input = { siteName: 'My site', login: 'ada', email: 'ada@example.com', password: ada.password };

describeDialects('first-run setup', (open) => {
  it('has one link, the same from every node and at each start, which the database does not give away', async () => {
    const nodes = [await openNode(open), await openNode(open)];
    const links = await Promise.all([...nodes, ...nodes].map(({ setup }) => setup.ensureLink()));
    expect(new Set(links).size).to.equal(1);
    expect(links[0]).to.match(/^http:\/\/site\.example\/admin\/setup\?token=[\w-]{43}$/);
    expect(JSON.stringify(await nodes[0]!.options.list())).not.to.include(tokenOf(links[0]!));
    expect(await nodes[0]!.setup.accepts(tokenOf(links[0]!))).to.equal(true);
    const other = await openNode(open, 8);
    expect(await other.setup.accepts(tokenOf(links[0]!))).to.equal(false);
  });

  it('makes the administrator, names the site and spends the link', async () => {
    const { setup, users, options } = await openNode(open);
    const token = tokenOf(await setup.ensureLink());
    expect(await setup.needed()).to.equal(true);
    const user = await setup.complete({ token, ...input });
    expect(user.can('manage_options')).to.equal(true);
    expect((await users.verify('ada', ada.password))?.id).to.equal(user.id);
    expect(await options.get('blogname')).to.equal('My site');
    expect([await setup.needed(), await setup.accepts(token), await setup.ensureLink()]).to.deep.equal([
      false,
      false,
      null,
    ]);
    expect(await rejection(setup.complete({ token, ...input, login: 'eve', email: 'eve@example.com' }))).to.include({
      code: 'setup_link_invalid',
      status: 403,
    });
    expect(await users.count()).to.equal(1);
  });

  it('refuses wrong tokens, also before there is any', async () => {
    const { setup, users } = await openNode(open);
    for (const token of ['', 'x', 'x'.repeat(43)]) {
      expect(await setup.accepts(token)).to.equal(false);
      expect((await rejection(setup.complete({ token, ...input }))).code).to.equal('setup_link_invalid');
    }
    const token = tokenOf(await setup.ensureLink());
    expect(await setup.accepts(`${token}x`)).to.equal(false);
    expect(await users.count()).to.equal(0);
  });

  it('spends nothing when a field is refused', async () => {
    const { setup, options } = await openNode(open);
    const token = tokenOf(await setup.ensureLink());
    const error = await rejection(setup.complete({ token, ...input, password: 'short' }));
    expect(error).to.include({ code: 'rest_invalid_param', status: 400 });
    expect(error.data).to.have.nested.property('params.password');
    expect(await options.get('blogname', 'unset')).to.equal('unset');
    expect((await setup.complete({ token, ...input })).login).to.equal('ada');
  });

  it('makes one administrator when several browsers finish at once on several nodes', async () => {
    const nodes = [await openNode(open), await openNode(open)];
    const token = tokenOf(await nodes[0]!.setup.ensureLink());
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name, index) =>
        nodes[index % 2]!.setup.complete({ token, ...input, login: name, email: `${name}@example.com` }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect((outcome.reason as { code: string }).code).to.equal('setup_link_invalid');
    expect(await nodes[1]!.users.count()).to.equal(1);
  });

  it('is not offered on a site whose administrator came another way', async () => {
    const { setup, users } = await openNode(open);
    const token = tokenOf(await setup.ensureLink());
    await users.create(ada);
    expect([await setup.accepts(token), await setup.ensureLink()]).to.deep.equal([false, null]);
  });
});
