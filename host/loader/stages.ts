import { errorText, type Clock } from '#plugin-api';
import { MessageChannel } from 'node:worker_threads';

/** An error of a plugin with the lifecycle stage in which it occurred. */
export class StageError extends Error {
  override readonly name = 'StageError';
  readonly stage: string;

  constructor(stage: string, cause: unknown) {
    super(errorText(cause), { cause });
    this.stage = stage;
  }
}

/** Time limits in seconds. Migrations have none. */
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

/** Runs a lifecycle step of a plugin. @throws StageError */
export type Step = <Result>(stage: keyof typeof limits, work: () => Result | Promise<Result>) => Promise<Result>;

export function createStep(clock: Clock): Step {
  return async (stage, work) => {
    try {
      const seconds = limits[stage];
      if (seconds === null) return await work();
      return await withTimeout(work(), {
        clock,
        limit: seconds * 1000,
        message: `It did not end within ${seconds} seconds. Do slow work in a job, and await nothing that may never settle.`,
      });
    } catch (error) {
      throw new StageError(stage, error);
    }
  };
}

/**
 * Waits for work of a plugin up to a time limit.
 *
 * @param limit milliseconds.
 * @throws Error with `message` after the limit. The work continues, but its result is ignored.
 */
export async function withTimeout<Result>(
  work: Result | Promise<Result>,
  { clock, limit, message }: { clock: Clock; limit: number; message: string },
): Promise<Result> {
  if (!isThenable(work)) return work;
  let undo = (): void => undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    undo = clock.after(limit, () => reject(new Error(message)));
  });
  const release = keepProcessAlive();
  try {
    return await Promise.race([work, timeout]);
  } finally {
    release();
    undo();
  }
}

/** Clock timers do not keep the process alive. During startup it would exit silently instead of reaching the limit. */
function keepProcessAlive(): () => void {
  const { port1 } = new MessageChannel();
  port1.ref();
  return () => port1.close();
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
