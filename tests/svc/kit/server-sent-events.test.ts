import { expect } from 'chai';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { eventResponse, eventStream, type ServerSentEvent } from '../../../plugins/svc/kit/server-sent-events.ts';
import { failureOf } from '../../helpers/failure-of.ts';

/** A source whose events are given by hand. */
function source() {
  const waiting: { resolve: (step: IteratorResult<ServerSentEvent>) => void; reject: (error: Error) => void }[] = [];
  let returned = 0;
  const events: AsyncIterable<ServerSentEvent> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise((resolve, reject) => void waiting.push({ resolve, reject })),
      return: () => {
        returned += 1;
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
  return {
    events,
    asked: () => waiting.length,
    returned: () => returned,
    give: (event: ServerSentEvent) => waiting.shift()!.resolve({ done: false, value: event }),
    end: () => waiting.shift()!.resolve({ done: true, value: undefined }),
    fail: (error: Error) => waiting.shift()!.reject(error),
  };
}

async function collect(events: AsyncIterable<ServerSentEvent>): Promise<string> {
  let text = '';
  for await (const piece of eventStream(events, { clock: createFakeClock() })) text += piece;
  return text;
}

describe('Server-sent events', () => {
  it('are a name and one line of JSON each, for any data', async () => {
    async function* events(): AsyncGenerator<ServerSentEvent> {
      yield { event: 'delta', data: { text: 'a\nb\r\n\ndata: c 🌍' } };
      yield { event: 'done', data: undefined };
    }
    expect(await collect(events())).to.equal(
      'event: delta\ndata: {"text":"a\\nb\\r\\n\\ndata: c 🌍"}\n\nevent: done\ndata: null\n\n',
    );
  });

  it('are requested only when the last one was consumed', async () => {
    const { events, asked } = source();
    const pieces = eventStream(events, { clock: createFakeClock() })[Symbol.asyncIterator]();
    expect(asked()).to.equal(0);
    void pieces.next();
    expect(asked()).to.equal(1);
  });

  it('are interleaved with a comment after every 15 seconds without an event', async () => {
    const clock = createFakeClock();
    const { events, give, end, asked } = source();
    const pieces = eventStream(events, { clock })[Symbol.asyncIterator]();
    for (let silence = 0; silence < 3; silence += 1) {
      const piece = pieces.next();
      await clock.advance(14_999);
      expect(asked()).to.equal(1);
      await clock.advance(1);
      expect((await piece).value).to.equal(': \n\n');
    }
    const piece = pieces.next();
    give({ event: 'delta', data: 1 });
    expect((await piece).value).to.equal('event: delta\ndata: 1\n\n');
    expect(clock.pending()).to.equal(0);
    const last = pieces.next();
    end();
    expect((await last).done).to.equal(true);
    expect((await pieces.next()).done).to.equal(true);
    expect(clock.pending()).to.equal(0);
  });

  it('end with their caller, and end the source, even with a pending event', async () => {
    const clock = createFakeClock();
    const { events, returned } = source();
    const pieces = eventStream(events, { clock })[Symbol.asyncIterator]();
    const piece = pieces.next();
    expect((await pieces.return!()).done).to.equal(true);
    expect((await piece).done).to.equal(true);
    expect([returned(), clock.pending()]).to.deep.equal([1, 0]);
    expect((await pieces.next()).done).to.equal(true);
  });

  it('fail with their source', async () => {
    const clock = createFakeClock();
    const { events, fail } = source();
    const pieces = eventStream(events, { clock })[Symbol.asyncIterator]();
    const piece = failureOf(pieces.next());
    fail(new Error('broke'));
    expect(((await piece) as Error).message).to.equal('broke');
    expect([(await pieces.next()).done, clock.pending()]).to.deep.equal([true, 0]);
  });

  it('are a response with the content type of events', () => {
    const { status, headers, body, content } = eventResponse(source().events, {
      clock: createFakeClock(),
      body: { all: 1 },
      headers: { 'X-Own': 'yes' },
    });
    expect([status, headers, body]).to.deep.equal([
      200,
      { 'X-Own': 'yes', 'Content-Type': 'text/event-stream; charset=UTF-8' },
      { all: 1 },
    ]);
    expect(content).to.have.property(Symbol.asyncIterator as never);
  });
});
