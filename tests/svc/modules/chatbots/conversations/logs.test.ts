import { join } from 'node:path';
import { expect } from 'chai';
import { botsMigration } from '../../../../../plugins/svc/modules/chatbots/bots/bots-table.ts';
import { createLogs } from '../../../../../plugins/svc/modules/chatbots/conversations/logs.ts';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { aConversation, aQuestion, openConversations } from './open-conversations.ts';

describeDialects('the logs', (open, { directory }) => {
  it('show the messages of a restored backup, also where revisions count again what they have counted', async () => {
    const { database, clock, store } = await openConversations(open);
    await database.migrate('bots', [botsMigration]);
    const users = { names: () => Promise.resolve(new Map()), ids: () => Promise.resolve([]) };
    const logs = createLogs({ host: { database, clock, users } as never });
    const contents = async (): Promise<string[]> => {
      const { rows } = await logs.page({}, { offset: 0, limit: 20 });
      return rows.flatMap((row) =>
        (JSON.parse(row.messages) as { readonly content: string }[]).map(({ content }) => content),
      );
    };
    const { id } = await store.start(aConversation());
    await store.append(id, [aQuestion('before the backup')]);
    const file = join(directory(), 'backup.jsonl.gz');
    await database.backup(file);
    await store.append(id, [aQuestion('lost with the restore')]);
    expect(await contents()).to.deep.equal(['before the backup', 'lost with the restore']);
    await database.restore(file);
    await store.append(id, [aQuestion('after the restore')]);
    expect(await contents()).to.deep.equal(['before the backup', 'after the restore']);
  });

  it('show what another node has changed a moment ago: messages, and the names of chatbots and users', async () => {
    const [here, there] = [await openConversations(open), await openConversations(open)];
    const { database, clock } = here;
    await database.migrate('bots', [botsMigration]);
    await database.knex.schema.createTable('people', (columns) => void columns.text('name'));
    await database.knex('people').insert({ name: 'Ada' });
    const names = async (): Promise<Map<number, string>> =>
      new Map([[7, String(await database.knex('people').first('name').then(Object.values))]]);
    const logs = createLogs({ host: { database, clock, users: { names } } as never });
    const bot = { settings: JSON.stringify({ name: 'Shop' }), created_at: 0, updated_at: 0 };
    await database.knex('svc_bots').insert({ id: 1, ...bot });
    const { id } = await there.store.start(aConversation({ userId: 7 }));
    const first = async (): Promise<unknown> => {
      const { rows } = await logs.page({}, { offset: 0, limit: 20 });
      return rows.map((row) => [row.bot_name, row.user_display_name, row.message_count]);
    };
    expect(await first()).to.deep.equal([['Shop', 'Ada', '0']]);
    expect(await first()).to.deep.equal([['Shop', 'Ada', '0']]);
    await there.store.append(id, [aQuestion('of another node')]);
    expect(await first()).to.deep.equal([['Shop', 'Ada', '1']]);
    await there.database.knex('svc_bots').update({ settings: JSON.stringify({ name: 'Help' }) });
    expect(await first()).to.deep.equal([['Help', 'Ada', '1']]);
    await there.database.knex('people').update({ name: 'Grace' });
    expect(await first()).to.deep.equal([['Help', 'Grace', '1']]);
    await there.store.delete(id);
    expect(await first()).to.deep.equal([]);
  });
});
