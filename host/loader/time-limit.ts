import { MessageChannel } from 'node:worker_threads';
import type { Clock } from '#plugin-api';

/**
 * Waits for work that a plugin was asked to do, but not for ever.
 *
 * @param limit milliseconds.
 * @throws Error `sentence` when the time is over; the work itself cannot be stopped and its outcome is dropped.
 */
export async function withinTime<Result>(
  work: Result | Promise<Result>,
  { clock, limit, sentence }: { clock: Clock; limit: number; sentence: string },
): Promise<Result> {
  if (!isThenable(work)) return work;
  let undo = (): void => undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    undo = clock.after(limit, () => reject(new Error(sentence)));
  });
  const letGo = keepProcess();
  try {
    return await Promise.race([work, timeout]);
  } finally {
    letGo();
    undo();
  }
}

/** Timers of the clock keep no process alive, and while a host starts nothing else may: it would end without a word instead of at the limit. */
function keepProcess(): () => void {
  const { port1 } = new MessageChannel();
  port1.ref();
  return () => port1.close();
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
