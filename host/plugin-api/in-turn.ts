import { setImmediate as nextTurn } from 'node:timers/promises';
import { createMutex } from './mutex.ts';

/** Characters. Work on shorter texts takes a few milliseconds at most. */
const longText = 50_000;
const turns = createMutex<'texts'>();

/**
 * Runs work in proportion to a text: at once if it is short. Work on long texts of all requests runs piece by piece, and other
 * requests go on between the pieces (D46).
 *
 * @param work synchronous: it must not wait for another turn
 */
export async function inTurn<Result>(text: string, work: () => Result): Promise<Result> {
  if (text.length < longText) return work();
  return turns.runExclusive('texts', async () => {
    await nextTurn();
    return work();
  });
}
