import { expect } from 'chai';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { conversationMigrations } from '../../../../../plugins/svc/modules/chatbots/conversations/conversation-tables.ts';

describeDialects('the tables of conversations', (open) => {
  it('keep the index of the logs over all migrations', async () => {
    const database = await open();
    await database.migrate(
      'svc',
      conversationMigrations.filter(({ id }) => id < '0182'),
    );
    const [texts, places] = [Buffer.from([0, 3, 1]), Buffer.from([28, 12])];
    const [segment] = (await database
      .knex('svc_log_segments')
      .insert({ state: 1, changed_at: 0, conversations: Buffer.alloc(40) })
      .returning('id')) as { id: number }[];
    const terms = (await database
      .knex('svc_log_terms')
      .insert([
        { kind: 0, term: 'order', backwards: 'redro' },
        { kind: 1, term: 'or' },
      ])
      .returning(['id', 'kind'])) as { id: number; kind: number }[];
    for (const { id, kind } of terms)
      await database
        .knex('svc_log_postings')
        .insert({ term_id: id, segment_id: segment?.id, texts, places: kind === 0 ? places : null });

    await database.migrate('svc', conversationMigrations);

    const [word, letters] = terms;
    expect(
      await database.knex('svc_log_postings').select('term_id', 'segment_id', 'texts').orderBy('term_id'),
    ).to.deep.equal([
      { term_id: word?.id, segment_id: segment?.id, texts },
      { term_id: letters?.id, segment_id: segment?.id, texts },
    ]);
    expect(await database.knex('svc_log_positions').select('term_id', 'segment_id', 'positions')).to.deep.equal([
      { term_id: word?.id, segment_id: segment?.id, positions: places },
    ]);
    for (const former of ['svc_log_texts', 'svc_log_places', 'svc_log_dead', 'svc_conversation_removals'])
      expect(await database.knex.schema.hasTable(former), former).to.equal(false);
  });
});
