import type { Clock } from '#plugin-api';
import { withinTime } from './time-limit.ts';

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
