import type { Clock } from '#plugin-api';
import { MessageChannel } from 'node:worker_threads';

/** What a plugin threw, with where in its life it did. */
export class StageError extends Error {
  override readonly name = 'StageError';
  readonly stage: string;

  constructor(stage: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.stage = stage;
  }
}

/** Seconds each step may take; migrations may take as long as they need. */
const limits = {
  import: 30,
  register: 10,
  activate: 60,
  deactivate: 10,
  uninstall: 60,
  upgrade: 60,
  health: 10,
  migrate: null,
} as const;

/** Does a step of a plugin's life. Throws a StageError. */
export type Step = <Result>(stage: keyof typeof limits, work: () => Result | Promise<Result>) => Promise<Result>;

export function createStep(clock: Clock): Step {
  return async (stage, work) => {
    try {
      const seconds = limits[stage];
      if (seconds === null) return await work();
      return await withinTime(work(), {
        clock,
        limit: seconds * 1000,
        sentence: `It took longer than ${seconds} seconds; do slow work later, not in '${stage}'.`,
      });
    } catch (error) {
      throw new StageError(stage, error);
    }
  };
}

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
