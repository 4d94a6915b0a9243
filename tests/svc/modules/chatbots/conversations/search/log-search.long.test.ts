import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describeDialects } from '../../../../../helpers/dialects.ts';
import type { LogFilter } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/log-query.ts';
import { createLogSearch } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/log-search.ts';
import { deleteTexts } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/conversation-texts.ts';
import { aConversation, anAnswer, aQuestion, openConversations, type Conversations } from '../open-conversations.ts';

const anything = { offset: 0, limit: 100 };

function searchOf({ database }: Conversations) {
  return createLogSearch({ host: { database } });
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ς', 'σ');
}

/** What is in the logs, as plainly as can be. */
interface Known {
  readonly id: number;
  readonly botId: number;
  readonly userId: number;
  time: number;
  texts: { readonly id: string; readonly content: string }[];
  /** By id of the message. */
  readonly ratings: Map<string, 'up' | 'down' | 'none'>;
}

function expected(
  known: readonly Known[],
  { botId, userIds, text = '', from = 0, to = Infinity, guest, feedback }: LogFilter,
): Known[] {
  const part = fold(text).trim();
  const isRated = ({ ratings }: Known): boolean =>
    [...ratings.values()].some((value) => (feedback === 'any' ? value !== 'none' : value === feedback));
  return known
    .filter(
      (one) =>
        (botId === undefined || one.botId === botId) &&
        (userIds === undefined || userIds.has(one.userId)) &&
        (guest === undefined || guest === (one.userId === 0)) &&
        (feedback === undefined || isRated(one)) &&
        one.time >= from &&
        one.time <= to,
    )
    .filter((one) => part === '' || one.texts.some(({ content }) => fold(content).includes(part)))
    .sort((one, other) => other.time - one.time || other.id - one.id);
}

/** Words that share parts, stand in one another, and bring accents, cases, punctuation and other scripts. */
const pieces = [
  'order',
  'border',
  'Orders',
  'reorder',
  'Größe',
  'GRÖSSE',
  'crème',
  'BRÛLÉE',
  '50%',
  '5_0',
  'a_b',
  '%',
  '_',
  '"quoted"',
  "don't",
  'dont',
  '日本語',
  '本日',
  'ΟΔΟΣ',
  'οδός',
  'παραγγελία',
  'Παραγγελίες',
  'заказ',
  'Заказы',
  'ёлка',
  'ЕЛКА',
  'أهلا',
  'اهلا وسهلا',
  'الطلبات',
  'طلب',
  '订单',
  '查询订单状态',
  '订单状态',
  '한국어',
  '😀',
  '😀😃',
  '😃😀😃',
  '👩‍👧',
  '🇩🇪🇫🇷',
  'x',
  'I',
  'ada@example.com',
  '#1234',
  'the',
  'they',
  'other',
  '{"role":"user"}',
  'content',
  'role',
  `${'long'.repeat(40)}`,
  '\n',
  '  ',
  '...',
];
const word = fc.constantFrom(...pieces);
const message = fc
  .array(word, { minLength: 1, maxLength: 7 })
  .chain((words) => fc.constantFrom(' ', ' ', ' ', '', ', ', '\n').map((between) => words.join(between)));

/** Part of what may be there. Half a character is nothing that a request could bring. */
const searched = fc
  .oneof(
    word,
    message,
    fc
      .tuple(message, fc.nat(20), fc.integer({ min: 1, max: 9 }))
      .map(([text, start, length]) =>
        text.slice(start % Math.max(1, text.length), (start % Math.max(1, text.length)) + length),
      ),
  )
  .filter((text) => !/\p{Surrogate}/u.test(text));

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('start' as const),
      botId: fc.integer({ min: 1, max: 3 }),
      userId: fc.integer({ min: 0, max: 3 }),
      texts: fc.array(message, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('append' as const),
      which: fc.nat(),
      texts: fc.array(message, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('remove' as const), which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('rate' as const),
      which: fc.nat(),
      value: fc.constantFrom('up' as const, 'down' as const, 'none' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('delete' as const), which: fc.nat() }) },
  // As an earlier version left it.
  { weight: 2, arbitrary: fc.record({ act: fc.constant('unindex' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('index' as const), compact: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 3000 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(step: Step, { store, clock, database }: Conversations, known: Known[]): Promise<void> {
  if (step.act === 'wait') return clock.advance(step.milliseconds);
  const second = (): number => Math.floor(clock.now() / 1000);
  if (step.act === 'start') {
    const { id } = await store.start(aConversation({ botId: step.botId, userId: step.userId }));
    const messages = step.texts.map((content, index) => (index % 2 === 0 ? aQuestion(content) : anAnswer(content)));
    await store.append(id, messages);
    known.push({ id, botId: step.botId, userId: step.userId, time: second(), texts: messages, ratings: new Map() });
    return;
  }
  if (step.act === 'index' || known.length === 0) return;
  const one = known[step.which % known.length] as Known;
  if (step.act === 'unindex')
    return database.transaction(async (transaction) => {
      await deleteTexts(transaction, [one.id]);
      await transaction('svc_conversations').where({ id: one.id }).update({ indexed: 0 });
    });
  if (step.act === 'append') {
    const messages = step.texts.map((content) => aQuestion(content));
    await store.append(one.id, messages);
    one.texts.push(...messages);
    one.time = second();
  } else if (step.act === 'rate') {
    const rated = await store.setFeedback(one.id, {
      messageId: one.texts[1]?.id ?? '',
      value: step.value,
      comment: '',
    });
    if (rated !== null) one.ratings.set(rated.id, step.value);
  } else if (step.act === 'delete') {
    await store.delete(one.id);
    known.splice(known.indexOf(one), 1);
  } else {
    const last = one.texts.pop();
    if (last !== undefined) {
      await store.remove(one.id, last.id);
      one.ratings.delete(last.id);
    }
    const found = await store.messages(one.id);
    const { conversation } = await store.append(one.id, []);
    one.time = Math.floor(conversation.lastMessageAt / 1000);
    expect(found.length).to.equal(one.texts.length);
  }
}

const runs = 250;
const searchesPerRun = 8;

describeDialects('the search of the logs', (open, { dialect, directory }) => {
  it('finds what reading every message finds, in 2,000 random searches in six scripts, on every node', async function () {
    this.timeout(240_000);
    const one = await openConversations(open);
    const nodes = [one, await openConversations(open, one.clock)] as const;
    const searches = nodes.map(searchOf);
    const known: Known[] = [];
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 5 }),
        fc.array(
          fc.record({
            text: searched,
            botId: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 2 }),
            users: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 3 })), { nil: undefined, freq: 2 }),
            guest: fc.option(fc.boolean(), { nil: undefined, freq: 2 }),
            feedback: fc.option(fc.constantFrom('up' as const, 'down' as const, 'any' as const), {
              nil: undefined,
              freq: 2,
            }),
            since: fc.option(fc.nat(100), { nil: undefined, freq: 2 }),
            until: fc.option(fc.nat(20), { nil: undefined, freq: 2 }),
            offset: fc.nat(30),
          }),
          { minLength: searchesPerRun, maxLength: searchesPerRun },
        ),
        async (steps, questions) => {
          for (const [index, step] of steps.entries()) {
            await take(step, nodes[index % 2] ?? nodes[0], known);
            if (step.act === 'index') await searches[index % 2]?.index({ compact: step.compact });
          }
          for (const [index, { text, users, since, until, offset, ...others }] of questions.entries()) {
            const ago = (seconds?: number): number | undefined =>
              seconds === undefined ? undefined : Math.floor(one.clock.now() / 1000) - seconds;
            const filter: LogFilter = {
              ...others,
              // Every other one without a text, which is read in another way.
              text: index % 4 < 2 ? text : undefined,
              userIds: users === undefined ? undefined : new Set(users),
              from: ago(since),
              to: ago(until),
            };
            const all = expected(known, filter);
            const ids = all.map(({ id }) => id);
            const search = searches[index % 2] ?? searchOf(one);
            const found = await search.find(filter, { offset, limit: 10 });
            expect({ text, ...found }).to.deep.equal({ text, ids: ids.slice(offset, offset + 10), total: ids.length });
            if (index > 0) continue;
            expect(Array.from(await search.all(filter))).to.deep.equal(ids);
            const perDay = await search.perDay(filter, (time) => String(Math.floor(time / 900_000)));
            expect([...perDay.values()].reduce((sum, count) => sum + count, 0)).to.equal(ids.length);
            for (const { time } of all) expect(perDay.get(String(Math.floor(time / 900)))).to.be.above(0);
          }
        },
      ),
      { numRuns: runs, endOnFailure: true },
    );
  });

  it('finds a text in one message, never across two, and never in what JSON says around it', async () => {
    const conversations = await openConversations(open);
    const search = searchOf(conversations);
    const { id } = await conversations.store.start(aConversation());
    await conversations.store.append(id, [aQuestion('the end of one'), anAnswer('the other begins')]);
    for (const text of ['one the', 'content', 'assistant', 'role', 'onethe'])
      expect((await search.find({ text }, anything)).total, text).to.equal(0);
    for (const text of ['END OF', 'f one', 'the', 'e o', 'nd'])
      expect((await search.find({ text }, anything)).total, text).to.equal(1);
  });

  it('finds texts in long conversations and long texts in messages', async () => {
    const conversations = await openConversations(open);
    const { store } = conversations;
    const search = searchOf(conversations);
    const { id } = await store.start(aConversation());
    const long = Array.from({ length: 900 }, (_, index) => `word${String(index)}`).join(' ');
    for (let round = 0; round < 40; round++)
      await store.append(id, [aQuestion(`question ${String(round)} ${'abc '.repeat(30)}`), anAnswer('Short.')]);
    await store.append(id, [aQuestion(long)]);
    for (const text of ['question 0 ', 'question 39', long.slice(0, 1000), long.slice(-1000)])
      expect(await search.find({ text }, anything), text).to.deep.equal({ ids: [id], total: 1 });
    expect((await search.find({ text: `${long.slice(-999)}x` }, anything)).total).to.equal(0);
    expect(await store.delete(id)).to.equal(true);
    expect((await search.find({ text: 'question' }, anything)).total).to.equal(0);
    expect(await conversations.database.knex('svc_conversation_texts')).to.deep.equal([]);
  });

  it('finds the texts of a restored backup', async () => {
    const conversations = await openConversations(open);
    const { store, database } = conversations;
    const search = searchOf(conversations);
    const { id } = await store.start(aConversation());
    await store.append(id, [aQuestion('stored before')]);
    const file = join(directory(), 'backup.jsonl.gz');
    await database.backup(file);
    await store.append(id, [aQuestion('stored after')]);
    await database.restore(file);
    expect((await search.find({ text: 'before' }, anything)).ids).to.deep.equal([id]);
    expect((await search.find({ text: 'after' }, anything)).ids).to.deep.equal([]);
  });

  it('finds and counts the same where there may be many conversations, which SQLite reads in a thread', async () => {
    const conversations = await openConversations(open);
    const search = searchOf(conversations);
    const ids: number[] = [];
    for (const userId of [0, 7, 0, 8, 0]) ids.unshift((await conversations.store.start(aConversation({ userId }))).id);
    const answers = async (): Promise<unknown> => ({
      page: await search.find({}, { offset: 1, limit: 2 }),
      guests: await search.find({ guest: true, botId: 1 }, anything),
      users: await search.find({ userIds: new Set([7, 8]) }, anything),
      past: await search.find({}, { offset: 9, limit: 2 }),
      none: await search.find({ botId: 2 }, anything),
      all: Array.from(await search.all({})),
      perDay: [...(await search.perDay({}, () => 'today'))],
    });
    const few = await answers();
    expect(few).to.deep.include({ past: { ids: [], total: 5 }, none: { ids: [], total: 0 }, perDay: [['today', 5]] });
    await conversations.database.knex('svc_conversations').insert({
      ...(await conversations.database.knex('svc_conversations').first()),
      ...{ id: 1_000_000, uuid: 'far away', bot_id: 3, last_message_at: 0 },
    });
    expect(await answers()).to.deep.equal({
      ...(few as object),
      page: { ids: ids.slice(1, 3), total: 6 },
      guests: { ids: ids.filter((_, index) => index % 2 === 0), total: 3 },
      past: { ids: [], total: 6 },
      all: [...ids, 1_000_000],
      perDay: [['today', 6]],
    });
  });

  if (dialect === 'sqlite')
    it('removes the words of deleted messages from the file', async () => {
      const conversations = await openConversations(open);
      const { store, database } = conversations;
      const search = searchOf(conversations);
      const ids: number[] = [];
      for (let round = 0; round < 30; round++) {
        const { id } = await store.start(aConversation());
        ids.push(id);
        await store.append(id, [aQuestion(round === 3 ? 'qqzzjj' : `something common ${String(round)}`)]);
      }
      const parts = async (): Promise<number> => (await database.knex('svc_conversation_trigrams_idx')).length;
      const before = await parts();
      await store.delete(ids[3] ?? 0);
      await search.index({ compact: true });
      expect(await parts()).to.be.below(before);
      const data = (await database.knex('svc_conversation_trigrams_data').pluck('block')) as Buffer[];
      expect(data.some((block) => block.includes('qzz'))).to.equal(false);
      expect((await search.find({ text: 'common' }, anything)).total).to.equal(29);
    });
});
