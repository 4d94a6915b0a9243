import { expect } from 'chai';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { failureOf } from '../../../../helpers/failure-of.ts';
import { aConversation, anAnswer, aQuestion, openConversations } from './open-conversations.ts';

describeDialects('the store of conversations', (open) => {
  it('stores a conversation message by message, with all their data', async () => {
    const { store } = await openConversations(open);
    const started = await store.start(aConversation({ variables: { plan: 'gold' } }));
    const answer = anAnswer('Yes.', { sources: [{ title: 'Shipping', url: '', score: 80 }], isPartial: true });
    const { conversation, added } = await store.append(started.id, [aQuestion('Do you ship?'), answer]);
    expect(conversation.messageCount).to.equal(2);
    expect(added).to.have.length(2);
    const [question, stored] = await store.messages(started.id);
    expect(question).to.include({
      role: 'user',
      content: 'Do you ship?',
      usage: null,
      cost: null,
      isPartial: false,
      feedback: 'none',
      feedbackRevision: 0,
    });
    expect(stored).to.deep.include({
      id: answer.id,
      provider: 'OpenAI',
      model: 'gpt-4o-mini',
      usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      cost: 25,
      isPartial: true,
      sources: [{ title: 'Shipping', url: '', score: 80 }],
    });
    expect(await store.find(started.uuid)).to.deep.equal(conversation);
    expect(conversation.variables).to.deep.equal({ plan: 'gold' });
    expect(await store.messages(started.id, { last: 1 })).to.deep.equal([stored]);
  });

  it('stores a message once, however often it is sent', async () => {
    const { store } = await openConversations(open);
    const { id } = await store.start(aConversation());
    const question = aQuestion('Hello');
    await store.append(id, [question]);
    const again = await store.append(id, [question, aQuestion('And?')]);
    expect(again.added).to.have.length(1);
    expect(again.conversation.messageCount).to.equal(2);
    expect((await store.messages(id)).map(({ content }) => content)).to.deep.equal(['Hello', 'And?']);
  });

  it('keeps order and count while several nodes write to one conversation', async () => {
    const [one, two] = [await openConversations(open), await openConversations(open)];
    const { id } = await one.store.start(aConversation());
    const shared = aQuestion('from both');
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? one : two).store.append(id, [shared, aQuestion(`message ${String(index)}`)]),
      ),
    );
    const messages = await two.store.messages(id);
    expect(messages).to.have.length(11);
    expect(new Set(messages.map((message) => message.id)).size).to.equal(11);
    expect((await one.store.append(id, [])).conversation.messageCount).to.equal(11);
  });

  it('joins the given transaction', async () => {
    const { store, database } = await openConversations(open);
    const conversation = aConversation();
    const failure = await failureOf(
      database.transaction(async (transaction) => {
        const { id } = await store.start(conversation, transaction);
        await store.append(id, [aQuestion('Hello')], transaction);
        throw new Error('changed my mind');
      }),
    );
    expect(String(failure)).to.include('changed my mind');
    expect(await store.find(conversation.uuid)).to.equal(null);
  });

  it('rejects a uuid that exists', async () => {
    const { store } = await openConversations(open);
    const conversation = aConversation();
    await store.start(conversation);
    expect(await failureOf(store.start(conversation))).to.be.instanceOf(Error);
  });

  it('finds only the latest conversation of its owner', async () => {
    const { store, clock } = await openConversations(open);
    const mine = { userId: 0, sessionId: 'mine' };
    await store.start(aConversation(mine));
    await clock.advance(1000);
    const latest = await store.start(aConversation(mine));
    await store.start(aConversation({ userId: 7, sessionId: 'mine' }));
    await store.start(aConversation({ ...mine, botId: 2 }));
    await store.start(aConversation({ ...mine, module: 'rest_api' }));
    expect((await store.latest(1, mine))?.id).to.equal(latest.id);
    expect((await store.listByOwner(1, mine, 10)).length).to.equal(2);
    expect((await store.latest(1, { userId: 7, sessionId: null }))?.userId).to.equal(7);
    expect(await store.latest(1, { userId: 0, sessionId: null })).to.equal(null);
  });

  it('stores feedback once per click', async () => {
    const { store } = await openConversations(open);
    const { id } = await store.start(aConversation());
    const [question, answer] = [aQuestion('Hello'), anAnswer('Hi')];
    await store.append(id, [question, answer]);
    expect(await store.setFeedback(id, { messageId: answer.id, value: 'none', comment: '' })).to.equal(null);
    expect(await store.setFeedback(id, { messageId: answer.id, value: 'up', comment: '' })).to.include({
      feedback: 'up',
      feedbackRevision: 1,
    });
    expect(await store.setFeedback(id, { messageId: answer.id, value: 'up', comment: '' })).to.equal(null);
    expect(await store.setFeedback(id, { messageId: answer.id, value: 'up', comment: 'Nice' })).to.include({
      comment: 'Nice',
      feedbackRevision: 2,
    });
    expect(await store.setFeedback(id, { messageId: question.id, value: 'up', comment: '' })).to.equal(null);
  });

  it('deletes a message that is generated again', async () => {
    const { store } = await openConversations(open);
    const { id } = await store.start(aConversation());
    const answer = anAnswer('Hi');
    await store.append(id, [aQuestion('Hello'), answer]);
    expect(await store.remove(id, answer.id)).to.equal(true);
    expect(await store.remove(id, answer.id)).to.equal(false);
    const { conversation } = await store.append(id, [anAnswer('Good day')]);
    expect(conversation.messageCount).to.equal(2);
    expect((await store.messages(id)).map(({ content }) => content)).to.deep.equal(['Hello', 'Good day']);
  });

  it('updates what rules set, and deletes a conversation with its messages', async () => {
    const { store, database } = await openConversations(open);
    const { id, uuid } = await store.start(aConversation());
    await store.append(id, [aQuestion('Hello\u0000 \ud800')]);
    await store.update(id, { variables: { a: 'b' }, stored: [{ name: 'budget', value: '10' }], consentedAt: 5 });
    expect(await store.find(uuid)).to.deep.include({
      variables: { a: 'b' },
      stored: [{ name: 'budget', value: '10' }],
      consentedAt: 5,
    });
    // What a visitor and a rule change at the same time is both kept.
    await Promise.all([
      store.update(id, { variables: { solved: 'yes' } }),
      store.update(id, { variables: { a: 'c', topic: 'refund' }, stored: [{ name: 'plan', value: 'pro' }] }),
    ]);
    expect(await store.find(uuid)).to.deep.include({
      variables: { a: 'c', solved: 'yes', topic: 'refund' },
      stored: [
        { name: 'budget', value: '10' },
        { name: 'plan', value: 'pro' },
      ],
      consentedAt: 5,
    });
    expect(await store.delete(id)).to.equal(true);
    expect(await store.delete(id)).to.equal(false);
    expect(await store.find(uuid)).to.equal(null);
    expect(await database.knex('svc_messages').count({ total: '*' }).first()).to.deep.equal({ total: 0 });
    expect(await failureOf(store.append(id, [aQuestion('Still there?')]))).to.have.property('status', 404);
  });
});
