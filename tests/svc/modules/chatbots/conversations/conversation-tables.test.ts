import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { createConversationStore } from '../../../../../plugins/svc/modules/chatbots/conversations/conversation-store.ts';
import { conversationMigrations } from '../../../../../plugins/svc/modules/chatbots/conversations/conversation-tables.ts';
import { checkLogSearch } from '../../../../../plugins/svc/modules/chatbots/conversations/register-logs.ts';
import { createLogSearch } from '../../../../../plugins/svc/modules/chatbots/conversations/search/log-search.ts';
import { aConversation, aQuestion } from './open-conversations.ts';

const page = { offset: 0, limit: 100 };

describeDialects('the tables of conversations', (open) => {
  it('are migrated from any earlier version, whose conversations are found before and after they are indexed', async () => {
    const database = await open();
    const clock = createFakeClock();
    for (const version of ['0182', '0190', '0204'])
      await database.migrate(
        'svc',
        conversationMigrations.filter(({ id }) => id < version),
      );
    const rows = Array.from({ length: 120 }, (_, index) => ({
      uuid: `conversation-${String(index)}`,
      bot_id: 1,
      user_id: 0,
      module: 'chatbot',
      message_count: 1,
      created_at: index,
      last_message_at: index,
      page_url: '',
      ip: '',
      variables: '{}',
      stored: '[]',
      revision: 1,
    }));
    const ids = ((await database.knex('svc_conversations').insert(rows).returning('id')) as { id: number }[]).map(
      ({ id }) => id,
    );
    await database.knex('svc_messages').insert(
      ids.map((id, index) => ({
        conversation_id: id,
        uuid: 'm1',
        position: 1,
        role: 'user',
        content: `Question ${String(index)}?`,
        created_at: index,
        indexed: 1,
      })),
    );

    await database.migrate('svc', conversationMigrations);

    for (const table of ['state', 'segments', 'tombstones', 'terms', 'postings', 'positions', 'words'])
      expect(await database.knex.schema.hasTable(`svc_log_${table}`), table).to.equal(false);
    const search = createLogSearch({ host: { database } });
    const store = createConversationStore({ host: { database, clock } });
    const [first = 0, second = 0] = ids;
    await store.append(first, [aQuestion('Another question')]);
    await store.delete(second);
    const { id: added } = await store.start(aConversation());
    await store.append(added, [aQuestion('A question of now')]);
    expect((await checkLogSearch({ database }))[0]?.label).to.equal('Chat logs are being indexed');
    const expectFound = async (): Promise<void> => {
      expect((await search.find({ text: 'question' }, page)).total).to.equal(120);
      expect((await search.find({ text: 'Question 7?' }, page)).ids).to.deep.equal([ids[7]]);
      expect((await search.find({ text: 'another' }, page)).ids).to.deep.equal([first]);
    };
    await expectFound();
    const steps: number[] = [];
    const stop = new AbortController();
    const progress = (done: number, total: number): void => {
      steps.push(done, total);
      stop.abort();
    };
    expect(await search.index({ progress, signal: stop.signal }).catch((error: Error) => error.name)).to.equal(
      'AbortError',
    );
    expect(steps).to.deep.equal([50, 119]);
    await expectFound();
    expect(await search.index()).to.equal(69);
    await expectFound();
    expect(await checkLogSearch({ database })).to.deep.equal([]);
    expect(await search.index()).to.equal(0);
  });

  it('index conversations again whose search texts an earlier version made, and texts of one that still runs', async () => {
    const database = await open();
    const clock = createFakeClock();
    const { knex } = database;
    await database.migrate(
      'svc',
      conversationMigrations.filter(({ id }) => !id.startsWith('0240')),
    );
    const store = createConversationStore({ host: { database, clock } });
    const { id } = await store.start(aConversation());
    await store.append(id, [aQuestion('How do I return it?')]);
    const asBefore = async (): Promise<void> => {
      await knex('svc_conversations').update({ indexed: 1 });
      await knex('svc_conversation_texts').delete();
      await knex('svc_conversation_texts').insert({ id: id * 2 ** 20, text: 'howàdoàiàreturnàitâ' });
    };
    await asBefore();
    await database.migrate('svc', conversationMigrations);

    const search = createLogSearch({ host: { database } });
    const expectFound = async (): Promise<void> => {
      expect((await search.find({ text: 'do i return' }, page)).ids).to.deep.equal([id]);
    };
    await expectFound();
    expect(await search.index()).to.equal(1);
    await expectFound();
    await asBefore();
    expect(await search.index()).to.equal(1);
    await expectFound();
    expect(await knex('svc_conversation_texts').pluck('text')).to.have.length(1);
  });
});
