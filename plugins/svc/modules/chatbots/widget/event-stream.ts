import type { Clock } from '#plugin-api';
import type { SendEvent } from './protocol.ts';

/** Milliseconds without an event after which a comment shows that the stream is alive: less than what proxies wait for. */
const quiet = 15_000;

/** The events of an answer as server-sent events, each in a piece of its own. */
export async function* eventStream(events: AsyncGenerator<SendEvent, void, undefined>, clock: Pick<Clock, 'after'>): AsyncGenerator<string, void, undefined> {
  let next = events.next();
  for (;;) {
    const { result, undo } = await soon(next, clock);
    undo();
    if (result === null) {
      yield ': \n\n';
      continue;
    }
    if (result.done) return;
    const { type, ...data } = result.value;
    yield `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
    next = events.next();
  }
}

/** What comes first: the next event, or the time for a sign of life (null). */
async function soon<Result>(next: Promise<Result>, clock: Pick<Clock, 'after'>): Promise<{ readonly result: Result | null; readonly undo: () => void }> {
  let undo = (): void => {};
  const late = new Promise<null>((resolve) => (undo = clock.after(quiet, () => { resolve(null); })));
  return { result: await Promise.race([next, late]), undo };
}
