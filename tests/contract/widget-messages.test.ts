import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { SendEvent } from '../../plugins/svc/modules/chatbots/widget/protocol.ts';
import { describeWidget } from './widget-site.ts';

describeWidget('messages of the chat widget', (site) => {
  it('are answered as a stream: accepted, pieces, and the whole message as it is stored', async () => {
    const guest = await site().started(await site().bot());
    const stream = await guest.stream('Do you ship to Norway?');
    const events = await stream.whole();
    expect(stream.response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(events[0]).to.deep.include({ type: 'accepted', conversation: guest.conversation });
    expect(stream.text()).to.equal('You said: Do you ship to Norway?');
    const done = events.at(-1) as Extract<SendEvent, { type: 'done' }>;
    expect(done.type).to.equal('done');
    expect(done.message).to.deep.include({ role: 'assistant', content: 'You said: Do you ship to Norway?', sources: [], is_partial: false, feedback: 'none' });
    const { body } = await guest.start();
    expect(body.conversation?.id).to.equal(guest.conversation);
    expect(body.conversation?.messages.map(({ role, content }) => [role, content])).to.deep.equal([['user', 'Do you ship to Norway?'], ['assistant', 'You said: Do you ship to Norway?']]);
    expect(body.conversation?.messages[1]).to.deep.equal(done.message);
  });

  it('are answered as a whole where no stream is asked for, and the model is told what was said before', async () => {
    const guest = await site().started(await site().bot({ instructions: 'Be kind.' }));
    await guest.send('One');
    const { status, body } = await guest.send('Two');
    expect(status).to.equal(200);
    expect(body).to.deep.include({ conversation: guest.conversation, form: null, limit: null });
    expect(body.message.content).to.equal('You said: Two');
    expect(site().farEnd.calls[1]?.messages).to.deep.equal([
      { role: 'system', content: 'Be kind.' }, { role: 'user', content: 'One' }, { role: 'assistant', content: 'You said: One' }, { role: 'user', content: 'Two' },
    ]);
  });

  it('pass on each piece as the far end sends it', async () => {
    const guest = await site().started(await site().bot());
    const next = site().farEnd.next();
    const stream = await guest.stream('Slowly, please');
    const turn = await next;
    turn.piece('First');
    await stream.until('delta');
    expect(stream.text()).to.equal('First');
    expect(stream.events.map(({ type }) => type)).to.deep.equal(['accepted', 'delta']);
    turn.piece(' and second');
    turn.end();
    await stream.whole();
    expect(stream.text()).to.equal('First and second');
  });

  it('count once however often they are sent: the same again gives the stored answer', async () => {
    const guest = await site().started(await site().bot());
    const message_id = randomUUID();
    const first = await guest.send('Hello', { message_id });
    const again = await guest.send('Hello', { message_id });
    // The page that never heard of the conversation sends its first message again without it.
    const unheard = await guest.send('Hello', { message_id, conversation: null });
    expect(again.body).to.deep.equal(first.body);
    expect(unheard.body).to.deep.equal(first.body);
    const stream = await guest.stream('Hello', { message_id });
    expect((await stream.whole()).map(({ type }) => type)).to.deep.equal(['accepted', 'delta', 'done']);
    expect(site().farEnd.calls).to.have.length(1);
  });
});
