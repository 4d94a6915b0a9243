import { expect } from 'chai';
import type { Database } from '../../../../../../host/database/database.ts';
import {
  selectIds,
  selectMatching,
  selectPage,
  selectQuarters,
} from '../../../../../../plugins/svc/modules/chatbots/conversations/search/log-query.ts';
import type { LogFilter, Sql } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/log-query.ts';
import { selectTexts } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/find-texts.ts';
import { describeDialects } from '../../../../../helpers/dialects.ts';
import { aConversation, openConversations } from '../open-conversations.ts';

const filters: readonly LogFilter[] = [
  {},
  { botId: 1 },
  { guest: true },
  { guest: false },
  { userIds: new Set([0, 7]) },
  { feedback: 'up' },
  { feedback: 'any' },
  { from: 1_700_000_000, to: 1_800_000_000 },
  { botId: 1, userIds: new Set([7]), guest: false, feedback: 'down', from: 1 },
];
const page = { offset: 500, limit: 20 };

describeDialects('the statements of the logs', (open, { dialect }) => {
  let database: Database;
  beforeEach('stores a conversation', async () => {
    const { store, ...opened } = await openConversations(open);
    database = opened.database;
    await store.start(aConversation());
  });

  /** What the database does for a statement, with sequential scans only where nothing else is possible. */
  async function explain({ sql, values }: Sql): Promise<string> {
    if (dialect === 'sqlite')
      return ((await database.knex.raw(`EXPLAIN QUERY PLAN ${sql}`, [...values])) as { detail: string }[])
        .map(({ detail }) => detail)
        .join('\n');
    return database.transaction(async (transaction) => {
      for (const unused of ['seqscan', 'bitmapscan', 'sort']) await transaction.raw(`SET LOCAL enable_${unused} = off`);
      const { rows } = await transaction.raw<{ rows: Record<string, string>[] }>(`EXPLAIN ${sql}`, [...values]);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
  }

  const isListed = /USING COVERING INDEX svc_conversations_list|Index Only Scan.* using svc_conversations_list/;
  const readsRows =
    /(?:SCAN|SEARCH) svc_conversations(?! USING COVERING INDEX)|(?:Seq|Index) Scan.* (?:using|on) svc_conversations/;

  it('read one index, whatever the filter, and sort nothing for a page', async () => {
    for (const filter of filters) {
      const matching = selectMatching(dialect, filter, null);
      const perDay = selectQuarters(selectMatching(dialect, { from: 1, ...filter }, null));
      for (const statement of [selectPage(matching, page, false), selectIds(matching), perDay]) {
        const plan = await explain(statement);
        expect(plan, statement.sql).to.match(isListed).and.not.match(readsRows);
        const sorts = plan.match(/TEMP B-TREE FOR ORDER BY|Sort Key: .*svc_conversations/g) ?? [];
        expect(sorts.length, plan).to.be.at.most(statement.sql.includes('total') ? 1 : 0);
      }
    }
  });

  it('look for a text once, for the total and the page', async () => {
    for (const text of ['word', 'wo']) {
      const matching = selectMatching(dialect, { botId: 1 }, await selectTexts(database, text));
      const plan = await explain(selectPage(matching, page, true));
      const scans = plan.match(/^SCAN svc_conversation_(?:trigrams|texts)| on svc_conversation_texts\s/gm) ?? [];
      expect(scans.length, plan).to.equal(1);
    }
  });
});
