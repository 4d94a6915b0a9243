import { expect } from 'chai';
import { createEventQueue } from '../../../plugins/svc/kit/event-queue.ts';

describe('a queue of events', () => {
  it('gives its reader what was pushed before and after it began, then ends', async () => {
    const queue = createEventQueue<string>();
    const firsts: string[] = [];
    queue.onFirst(() => void firsts.push('first'));
    queue.push('a');
    queue.push('b');
    const reader = queue.events()[Symbol.asyncIterator]();
    expect(await reader.next()).to.deep.equal({ done: false, value: 'a' });
    expect(await reader.next()).to.deep.equal({ done: false, value: 'b' });
    const pending = reader.next();
    queue.push('c');
    queue.push('d');
    queue.end();
    queue.push('too late');
    expect(await pending).to.deep.equal({ done: false, value: 'c' });
    expect(await reader.next()).to.deep.equal({ done: false, value: 'd' });
    expect((await reader.next()).done).to.equal(true);
    expect((await reader.next()).done).to.equal(true);
    expect(firsts).to.deep.equal(['first']);
  });

  it('ends a reader that waits, at its end and when the reader returns', async () => {
    const ended = createEventQueue<string>();
    const pending = ended.events()[Symbol.asyncIterator]().next();
    ended.end();
    expect((await pending).done).to.equal(true);

    const left = createEventQueue<string>();
    const reader = left.events()[Symbol.asyncIterator]();
    const waiting = reader.next();
    await reader.return?.();
    expect((await waiting).done).to.equal(true);
    left.push('unread');
    expect((await reader.next()).done).to.equal(true);
  });
});
