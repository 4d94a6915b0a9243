import type { Clock } from './clock.ts';

const minute = 60_000;

/** Counts a call of a key. Returns the calls in the current clock minute, and the seconds until it ends. */
export type MinuteCounter = (key: string) => { readonly calls: number; readonly seconds: number };

/**
 * Counts calls in the memory of this process, because counting must be cheaper than the calls that it refuses.
 *
 * @param init `maxKeys`: keys counted separately in a minute. All others share one count, so that a flood from many
 *   addresses needs little memory.
 */
export function createMinuteCounter({
  clock,
  maxKeys = 50_000,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly maxKeys?: number;
}): MinuteCounter {
  const counts = new Map<string, number>();
  let current = -1;
  return (given) => {
    const now = clock.now();
    const window = Math.floor(now / minute);
    if (window !== current) {
      current = window;
      counts.clear();
    }
    const key = counts.has(given) || counts.size < maxKeys ? given : 'others';
    const calls = (counts.get(key) ?? 0) + 1;
    counts.set(key, calls);
    return { calls, seconds: Math.max(1, Math.ceil(((window + 1) * minute - now) / 1000)) };
  };
}
