import type { Undo } from './undo.ts';

/**
 * The only source of time. Tests replace it with a fake clock, so that nothing really waits.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Resolves after `milliseconds` (0 or more), or rejects with the signal's reason as soon as it is aborted.
   */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Runs `callback` once after `milliseconds`; the returned undo cancels it. Never keeps the process alive. */
  after(milliseconds: number, callback: () => void): Undo;
  /** Runs `callback` every `milliseconds` until undone. Never keeps the process alive. */
  every(milliseconds: number, callback: () => void): Undo;
}
