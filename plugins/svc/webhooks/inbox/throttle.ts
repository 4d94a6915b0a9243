import type { Clock } from '#plugin-api';

/** A bucket of turns that fills again with time, of this process. Answers 0 for a turn, or the seconds to wait. */
export function createThrottle({
  clock,
  perSecond,
  burst,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly perSecond: number;
  readonly burst: number;
}): () => number {
  let left = burst;
  let at = clock.now();
  return () => {
    const now = clock.now();
    left = Math.min(burst, left + (Math.max(0, now - at) / 1000) * perSecond);
    at = now;
    if (left < 1) return Math.max(1, Math.ceil((1 - left) / perSecond));
    left -= 1;
    return 0;
  };
}
