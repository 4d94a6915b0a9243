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
});
