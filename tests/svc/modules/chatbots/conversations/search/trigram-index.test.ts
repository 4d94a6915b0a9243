import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { openDatabase } from '../../../../../../host/database/database.ts';
import { checkLogSearch } from '../../../../../../plugins/svc/modules/chatbots/conversations/register-logs.ts';
import { createLogSearch } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/log-search.ts';
import { describeDialects, silentLog } from '../../../../../helpers/dialects.ts';
import { until } from '../../../../../helpers/until.ts';
import { aConversation, aQuestion, openConversations, type Conversations } from '../open-conversations.ts';

const anything = { offset: 0, limit: 100 };

function searchOf({ database }: Conversations) {
  return createLogSearch({ host: { database } });
}

describeDialects('the index of the texts in the logs', (open, { dialect, location }) => {
  if (dialect === 'postgresql') {
    it('searches without an index, says so in doctor, and creates it when asked to', async () => {
      const conversations = await openConversations(open);
      const { store, database } = conversations;
      const search = searchOf(conversations);
      const { id } = await store.start(aConversation());
      await store.append(id, [aQuestion('a word')]);
      expect(await checkLogSearch({ database })).to.deep.equal([]);
      await database.knex.raw('DROP EXTENSION pg_trgm CASCADE');
      expect((await search.find({ text: 'word' }, anything)).ids).to.deep.equal([id]);
      expect((await checkLogSearch({ database }))[0]?.description).to.include('pg_trgm');
      await search.index();
      expect(await checkLogSearch({ database })).to.deep.equal([]);
      expect((await search.find({ text: 'word' }, anything)).ids).to.deep.equal([id]);
    });

    it('leaves an index alone that another process creates', async () => {
      const conversations = await openConversations(open);
      const { database } = conversations;
      const { id } = await conversations.store.start(aConversation());
      await conversations.store.append(id, [aQuestion('a word')]);
      await database.knex.raw('DROP INDEX svc_conversation_texts_trigrams');
      const one = searchOf(conversations);
      // The index waits for this transaction, which may see texts without it.
      const writer = await database.knex.transaction();
      await writer('svc_conversation_texts').update({ text: 'word' });
      const created = one.index();
      await until(
        'the index is being created',
        async () => (await database.knex('pg_stat_progress_create_index')).length > 0,
      );
      await searchOf(conversations).index();
      await writer.rollback();
      await created;
      expect(await checkLogSearch({ database })).to.deep.equal([]);
    });

    it('searches where the role may not create the extension', async () => {
      const { store, database, clock } = await openConversations(open);
      const { id } = await store.start(aConversation());
      await store.append(id, [aQuestion('a word')]);
      await database.knex.raw('DROP EXTENSION pg_trgm CASCADE');
      const role = `limited_${randomUUID().slice(0, 8)}`;
      await database.knex.raw(`CREATE ROLE ${role} LOGIN PASSWORD 'password'`);
      await database.knex.raw(`GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO ${role}`);
      const url = new URL(location().databaseUrl ?? '');
      Object.assign(url, { username: role, password: 'password' });
      const limited = await openDatabase({ databaseUrl: url.href, dataDir: '', log: silentLog, clock });
      try {
        const search = createLogSearch({ host: { database: limited } });
        expect(await search.index()).to.equal(0);
        expect((await search.find({ text: 'word' }, anything)).ids).to.deep.equal([id]);
        expect((await checkLogSearch({ database: limited }))[0]?.label).to.equal('Searches in chat logs are slow');
      } finally {
        await limited.close();
        await database.knex.raw(`DROP OWNED BY ${role}`);
        await database.knex.raw(`DROP ROLE ${role}`);
      }
    });
  }
});
