import { expect } from 'chai';
import type { UserFilter } from '#plugin-api';
import { migrations } from '../../host/users/migrations.ts';
import type { UserListQuery } from '../../host/users/user-queries.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { insertUsers, openNode, type Member } from './helper.ts';

const several: readonly Member[] = [
  { name: 'ann', roles: ['administrator'] },
  { name: 'ben', roles: ['editor'] },
  { name: 'cat', roles: ['editor', 'author'] },
  { name: 'dan', roles: ['author', 'editor', 'shop_clerk'] },
  { name: 'eve', roles: [] },
  { name: 'fay' },
  { name: 'gus' },
  { name: 'hal' },
];

describeDialects('counts of users by role', (open) => {
  async function openSeveral() {
    const node = await openNode(open);
    await insertUsers(node.database, several);
    const read = async (filter?: UserFilter) => {
      const { total, byRole } = await node.users.countByRole(filter);
      return { total, ...Object.fromEntries(byRole) };
    };
    return { ...node, read };
  }

  it('count a user with several roles for each, and one without roles for none', async () => {
    const { read } = await openSeveral();
    const all = { total: 8, administrator: 1, editor: 3, author: 2, shop_clerk: 1, subscriber: 3 };
    expect(await read()).to.deep.equal(all);
    // Now it knows which roles are the most common ones.
    expect(await read()).to.deep.equal(all);
    expect(await read({ search: 'a' })).to.deep.equal({ ...all, total: 8 });
    expect(await read({ search: 'an' })).to.deep.equal({
      total: 2,
      administrator: 1,
      editor: 1,
      author: 1,
      shop_clerk: 1,
    });
    expect(await read({ search: 'cat@' })).to.deep.equal({ total: 1, editor: 1, author: 1 });
    expect(await read({ search: 'nobody' })).to.deep.equal({ total: 0 });
  });

  it('follow changes of the most common roles', async () => {
    const { read, database } = await openSeveral();
    await read();
    await database.knex('users').where({ roles: '["subscriber"]' }).update({ roles: '["customer"]' });
    expect(await read())
      .to.include({ total: 8, customer: 3 })
      .and.not.have.property('subscriber');
    await database.knex('users').delete();
    expect(await read()).to.deep.equal({ total: 0 });
    expect(await read()).to.deep.equal({ total: 0 });
  });

  it('equal the counts of each role', async () => {
    const { users, read } = await openSeveral();
    const { total, ...byRole } = await read();
    expect(await users.count()).to.equal(total);
    for (const [role, count] of Object.entries(byRole)) expect(await users.count({ role }), role).to.equal(count);
    for (const role of ['nobody', 'edit', '%', '_ditor']) expect(await users.count({ role }), role).to.equal(0);
    expect(await users.count({ roles: ['editor', 'subscriber'] })).to.equal(6);
    expect(await users.count({ roles: ['editor', 'subscriber'], role: 'author' })).to.equal(2);
    expect(await users.count({ roles: [] })).to.equal(0);
    expect(await users.count({ role: 'editor', search: 'cat' })).to.equal(1);
    expect(await users.count({ role: 'editor', exclude: [2] })).to.equal(2);
  });

  it('select the same users as lists of them and of their ids', async () => {
    const { users } = await openSeveral();
    for (const filter of [
      { role: 'editor' },
      { roles: ['author', 'administrator'] },
      { roles: [] },
      { search: 'ann' },
    ]) {
      const listed = (await users.list(filter)).map(({ id }) => id);
      expect(await users.count(filter)).to.equal(listed.length);
      // The thread of SQLite that reads ids sees what is committed.
      expect((await users.ids(filter)).sort((one, other) => one - other)).to.deep.equal(listed);
    }
  });
});

describeDialects('searches of users', (open) => {
  it('find parts of login, display name and address, with any characters', async () => {
    const { users, database } = await openNode(open);
    await insertUsers(database, [
      { name: 'rick', display: 'Rick "The Knife" O\'Neil', email: 'knife@example.com' },
      { name: 'percy', display: '100% Percy_1', email: 'p@example.org' },
      { name: 'zoe_b', display: 'Zoë Ünal', email: 'zz@example.net' },
    ]);
    const find = async (filter: UserFilter): Promise<string[]> =>
      (await users.list({ ...filter, orderBy: 'login' })).map(({ login }) => login);
    for (const [search, found] of [
      ['percy', ['percy']],
      ['EXAMPLE.ORG', ['percy']],
      ['"the knife"', ['rick']],
      ["o'neil", ['rick']],
      ['%', ['percy']],
      ['0% p', ['percy']],
      ['r%k', []],
      ['_b', ['zoe_b']],
      ['y_1', ['percy']],
      ['zo_', []],
      ['zoe_', ['zoe_b']],
      ['ünal', ['zoe_b']],
      ['zz', ['zoe_b']],
      ['zoe OR rick', []],
      ['ric*', []],
      ['  rick  ', ['rick']],
      ['', ['percy', 'rick', 'zoe_b']],
    ] as const)
      expect(await find({ search }), search).to.deep.equal(found);
    expect(await find({ search: 'knife', searchIn: ['login'] })).to.deep.equal([]);
    expect(await find({ search: 'knife', searchIn: ['login', 'email'] })).to.deep.equal(['rick']);
    expect(await find({ search: 'ife@', searchIn: ['displayName'] })).to.deep.equal([]);
  });

  it('follow changes and find users of earlier versions', async () => {
    const database = await open();
    await database.migrate(
      'host',
      migrations.filter(({ id }) => id < '0243'),
    );
    await insertUsers(database, [{ name: 'early' }, { name: 'other' }]);
    const { users } = await openNode(open);
    const [early] = await users.list({ search: 'arl' });
    expect(early).to.include({ login: 'early' });
    await users.update(early?.id ?? 0, { displayName: 'Later', email: 'new@example.net' });
    expect(await users.count({ search: 'later' })).to.equal(1);
    expect(await users.count({ search: 'example.net' })).to.equal(1);
    expect(await users.count({ search: 'early@' })).to.equal(0);
    await users.delete(early?.id ?? 0);
    expect(await users.count({ search: 'later' })).to.equal(0);
  });
});

describeDialects('lists of very many users', (open, { dialect }) => {
  const amount = 21_000;

  /** Names and dates repeat, and one user in a hundred is an editor. */
  async function openMany() {
    const node = await openNode(open);
    const { knex } = node.database;
    const numbers = `with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${amount})`;
    const text = (prefix: string, value = 'i'): string => `'${prefix}' || ${value}`;
    await knex.raw(`${numbers} insert into users
      (login, login_key, email, email_key, display_name, display_key, slug, roles, password_hash, created_at)
      select ${text('u')}, ${text('u')}, ${text('m')}, ${text('m')}, ${text('N', 'i % 7000')}, ${text('n', 'i % 7000')}, ${text('u')},
        case when i % 100 = 0 then '["editor"]' when i % 100 = 1 then '["editor","author"]' when i % 100 = 2 then '[]'
          else '["subscriber"]' end, '-', i % 500 from numbers`);
    if (dialect === 'postgresql') await knex.raw('analyze users');
    await knex('users').where('id', '<=', 10).update({ roles: '["subscriber","author"]' });
    return node;
  }

  it('have each user on one page, in each order, of rare and of common roles', async function () {
    this.timeout(120_000);
    const { users, database } = await openMany();
    const rows = await database.knex('users').select('*');
    for (const role of ['editor', 'subscriber', 'author', undefined])
      for (const [orderBy, column] of [
        ['displayName', 'display_key'],
        ['registeredAt', 'created_at'],
        ['email', 'email_key'],
      ] as const)
        for (const descending of [false, true]) {
          const filter: UserFilter = role === undefined ? {} : { role };
          const total = await users.count(filter);
          const wanted = (await database
            .knex('users')
            .select('id', 'roles')
            .orderBy([
              { column, order: descending ? 'desc' : 'asc' },
              { column: 'id', order: descending ? 'desc' : 'asc' },
            ])) as { id: number; roles: string }[];
          const ids = wanted
            .filter(({ roles }) => role === undefined || (JSON.parse(roles) as string[]).includes(role))
            .map(({ id }) => id);
          expect(total).to.equal(ids.length).and.to.be.at.most(rows.length);
          const query: UserListQuery = { ...filter, orderBy, descending, limit: 7 };
          for (const offset of [0, 5, Math.floor(total / 2), total - 7, total - 3, total, total + 7])
            for (const known of [{}, { total }]) {
              const found = await users.list({ ...query, ...known, offset });
              const label = `${role ?? 'all'} by ${orderBy} from ${offset} of ${total}`;
              expect(
                found.map(({ id }) => id),
                label,
              ).to.deep.equal(ids.slice(offset, offset + 7));
            }
        }
    const read: number[] = [];
    for (let offset = 0; offset < amount; offset += 1_000)
      read.push(
        ...(await users.list({ orderBy: 'displayName', offset, limit: 1_000, total: amount })).map(({ id }) => id),
      );
    expect(new Set(read).size).to.equal(amount);
  });

  it('combine a search and a common role', async () => {
    const { users } = await openMany();
    const found = await users.list({ role: 'subscriber', search: 'm2020', orderBy: 'email' });
    expect(found.map(({ login }) => login)).to.deep.equal([
      'u2020',
      'u20203',
      'u20204',
      'u20205',
      'u20206',
      'u20207',
      'u20208',
      'u20209',
    ]);
    expect(await users.count({ role: 'subscriber', search: 'm2020' })).to.equal(found.length);
    expect(await users.count({ role: 'editor', search: 'm2020' })).to.equal(2);
  });

  if (dialect === 'sqlite')
    it('read only indexes before the page, and no user besides those of a search', async () => {
      const { users, database } = await openMany();
      const { knex } = database;
      const plansOf = async (work: Promise<unknown>, sent: { sql: string; bindings: unknown[] }[]): Promise<string> => {
        await work;
        const last = sent.at(-1);
        const plan = await knex.raw<{ detail: string }[]>(
          `explain query plan ${last?.sql ?? ''}`,
          (last?.bindings ?? []) as string[],
        );
        return plan.map(({ detail }) => detail).join('; ');
      };
      const plan = async (work: () => Promise<unknown>): Promise<string> => {
        const sent: { sql: string; bindings: unknown[] }[] = [];
        const keep = (query: { sql: string; bindings: unknown[] }): void => void sent.push(query);
        knex.on('query', keep);
        try {
          return await plansOf(work(), sent);
        } finally {
          knex.removeListener('query', keep);
        }
      };
      for (const [orderBy, index] of [
        ['displayName', 'users_by_name'],
        ['email', 'users_by_email'],
        ['registeredAt', 'users_by_date'],
      ] as const)
        for (const filter of [{}, { role: 'subscriber' }])
          expect(await plan(() => users.list({ ...filter, orderBy, offset: 9_000 }))).to.match(
            new RegExp(
              `^SEARCH users USING INTEGER PRIMARY KEY.*SCAN users USING COVERING INDEX (${index}|users_email_key_unique)`,
            ),
          );
      expect(await plan(() => users.list({ role: 'editor', orderBy: 'displayName' }))).to.contain(
        'users_by_roles (roles=?)',
      );
      for (const work of [
        () => users.count({ search: 'm2020' }),
        () => users.count({ search: 'm2020', role: 'subscriber' }),
        () => users.countByRole({ search: 'm2020' }),
        () => users.list({ search: 'm2020', orderBy: 'displayName' }),
        () => users.list({ search: 'm2020', role: 'subscriber', orderBy: 'displayName' }),
      ])
        expect(await plan(work), String(work))
          .to.contain('SEARCH users USING INTEGER PRIMARY KEY')
          .and.contain('users_trigrams VIRTUAL TABLE')
          .and.not.contain('SCAN users USING');
    });
});
