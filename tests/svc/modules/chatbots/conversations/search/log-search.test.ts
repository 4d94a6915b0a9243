import { expect } from 'chai';
import fc from 'fast-check';
import { describeDialects, silentLog } from '../../../../../helpers/dialects.ts';
import type { LogFilter } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/log-filter.ts';
import { createLogSearch } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/log-search.ts';
import { foldForSearch } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/tokens.ts';
import { aConversation, anAnswer, aQuestion, openConversations, type Conversations } from '../open-conversations.ts';

const anything = { offset: 0, limit: 100 };

function searchOf({ database, clock }: Conversations, pairsFrom?: number) {
  return createLogSearch({ host: { database, clock, log: silentLog }, ...(pairsFrom !== undefined && { pairsFrom }) });
}

/** What is in the logs, as plainly as can be. */
interface Known {
  readonly id: number;
  readonly botId: number;
  readonly userId: number;
  time: number;
  texts: { readonly id: string; readonly content: string }[];
}

function expected(
  known: readonly Known[],
  { botId, userIds, text = '', from = 0, to = Infinity }: LogFilter,
): number[] {
  const part = foldForSearch(text).trim();
  return known
    .filter(
      (one) =>
        (botId === undefined || one.botId === botId) &&
        (userIds === undefined || userIds.has(one.userId)) &&
        one.time >= from &&
        one.time <= to,
    )
    .filter((one) => part === '' || one.texts.some(({ content }) => foldForSearch(content).includes(part)))
    .sort((one, other) => other.time - one.time || other.id - one.id)
    .map(({ id }) => id);
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
  '😀',
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
  { weight: 1, arbitrary: fc.record({ act: fc.constant('delete' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('index' as const), purge: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 3000 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(step: Step, { store, clock }: Conversations, known: Known[]): Promise<void> {
  if (step.act === 'wait') return clock.advance(step.milliseconds);
  const second = (): number => Math.floor(clock.now() / 1000);
  if (step.act === 'start') {
    const { id } = await store.start(aConversation({ botId: step.botId, userId: step.userId }));
    const messages = step.texts.map((content, index) => (index % 2 === 0 ? aQuestion(content) : anAnswer(content)));
    await store.append(id, messages);
    known.push({ id, botId: step.botId, userId: step.userId, time: second(), texts: messages });
    return;
  }
  if (step.act === 'index' || known.length === 0) return;
  const one = known[step.which % known.length] as Known;
  if (step.act === 'append') {
    const messages = step.texts.map((content) => aQuestion(content));
    await store.append(one.id, messages);
    one.texts.push(...messages);
    one.time = second();
  } else if (step.act === 'delete') {
    await store.delete(one.id);
    known.splice(known.indexOf(one), 1);
  } else {
    const last = one.texts.pop();
    if (last !== undefined) await store.remove(one.id, last.id);
    const found = await store.messages(one.id);
    const { conversation } = await store.append(one.id, []);
    one.time = Math.floor(conversation.lastMessageAt / 1000);
    expect(found.length).to.equal(one.texts.length);
  }
}

describeDialects('the search of the logs', (open, { dialect }) => {
  it('answers what looking at every message would, on every node, whatever was written and indexed before', async function () {
    this.timeout(240_000);
    const one = await openConversations(open);
    const nodes = [one, await openConversations(open, one.clock)] as const;
    // Segments with pairs of common words, of which two texts have many, and segments without.
    const searches = nodes.map((node, index) => searchOf(node, index === 0 ? 2 : undefined));
    const known: Known[] = [];
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.array(
          fc.record({
            text: searched,
            botId: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
            users: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 3 })), { nil: undefined }),
            offset: fc.nat(30),
          }),
          { minLength: 1, maxLength: 6 },
        ),
        async (steps, questions) => {
          for (const [index, step] of steps.entries()) {
            await take(step, nodes[index % 2] ?? nodes[0], known);
            if (step.act === 'index') await searches[index % 2]?.maintain({ all: true, purge: step.purge });
          }
          for (const [index, { text, botId, users, offset }] of questions.entries()) {
            const filter: LogFilter = { text, botId, userIds: users === undefined ? undefined : new Set(users) };
            const all = expected(known, filter);
            const found = await searches[index % 2]?.find(filter, { offset, limit: 10 });
            expect({ text, ...found }).to.deep.equal({ text, ids: all.slice(offset, offset + 10), total: all.length });
          }
        },
      ),
      { numRuns: dialect === 'sqlite' ? 60 : 15, endOnFailure: true },
    );
  });

  it('finds a text in one message, never across two, and never in what JSON says around it', async () => {
    const conversations = await openConversations(open);
    const search = searchOf(conversations);
    const { id } = await conversations.store.start(aConversation());
    await conversations.store.append(id, [aQuestion('the end of one'), anAnswer('the other begins')]);
    for (const all of [false, true]) {
      if (all) await search.maintain({ all });
      for (const text of ['one the', 'content', 'assistant', 'role', 'onethe'])
        expect((await search.find({ text }, anything)).total, text).to.equal(0);
      for (const text of ['END OF', 'f one', 'the', 'e o', 'nd'])
        expect((await search.find({ text }, anything)).total, text).to.equal(1);
    }
  });

  it('merges segments, and removes the words of deleted messages', async () => {
    const conversations = await openConversations(open);
    const { store, database } = conversations;
    const search = searchOf(conversations);
    const ids: number[] = [];
    for (let round = 0; round < 9; round++) {
      const { id } = await store.start(aConversation());
      ids.push(id);
      await store.append(id, [aQuestion(`secret${String(round)} and something common`)]);
      await search.maintain({ all: true });
    }
    expect(await database.knex('svc_log_segments').where({ state: 1 }).pluck('id')).to.have.length(2);
    expect((await search.find({ text: 'something common' }, anything)).ids).to.deep.equal([...ids].reverse());
    await store.delete(ids[3] ?? 0);
    expect((await search.find({ text: 'secret3' }, anything)).total).to.equal(0);
    await search.maintain({ purge: true });
    // A search may be under way: what was replaced goes a minute later.
    await database.knex('svc_log_segments').where({ state: 2 }).update({ changed_at: 0 });
    await search.maintain();
    expect(await database.knex('svc_log_terms').where('term', 'like', 'secret3%')).to.deep.equal([]);
    expect((await search.find({ text: 'secret4' }, anything)).total).to.equal(1);
    expect((await search.find({ text: 'something common' }, anything)).total).to.equal(8);
  });

  it('reads everything again when the database was restored', async () => {
    const conversations = await openConversations(open);
    const { store, database } = conversations;
    const search = searchOf(conversations);
    const { id } = await store.start(aConversation());
    expect((await search.find({}, anything)).ids).to.deep.equal([id]);
    await database.knex('svc_conversations').update({ revision: 2 ** 40 });
    await database.knex('svc_log_state').where({ name: 'revision' }).update({ value: 0 });
    const other = searchOf(conversations);
    expect((await other.find({}, anything)).total).to.equal(1);
    await store.start(aConversation());
    expect((await other.find({}, anything)).total).to.equal(2);
  });
});
