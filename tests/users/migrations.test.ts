import { expect } from 'chai';
import { migrations } from '../../host/users/migrations.ts';
import { describeDialects } from '../helpers/dialects.ts';

describeDialects('the tables of users', (open) => {
  it('give users of earlier versions a nickname and a slug of their own', async () => {
    const database = await open();
    await database.migrate(
      'host',
      migrations.filter(({ id }) => id < '0008'),
    );
    for (const login of ['Ada L', 'ada.l', '...'])
      await database.knex('users').insert({
        login,
        login_key: login.toLowerCase(),
        email: `${login}@x`,
        email_key: `${login}@x`.toLowerCase(),
        display_name: login,
        roles: '[]',
        password_hash: '-',
        created_at: 0,
      });
    await database.migrate('host', migrations);
    expect(await database.knex('users').select('login', 'nickname', 'slug', 'url').orderBy('id')).to.deep.equal([
      { login: 'Ada L', nickname: 'Ada L', slug: 'ada-l', url: '' },
      { login: 'ada.l', nickname: 'ada.l', slug: 'ada-l-2', url: '' },
      { login: '...', nickname: '...', slug: 'user', url: '' },
    ]);
  });
});
