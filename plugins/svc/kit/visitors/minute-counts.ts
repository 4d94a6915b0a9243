import { formatWait, type Clock } from '#plugin-api';
import { errors } from '../errors.ts';

export interface RequestCounts {
  /** Counts a call. @throws RestError 429 `rest_svc_rate_limited` with `Retry-After`, after `most` of them within a minute of the clock. */
  count(name: string, most: number): void;
}

const minute = 60_000;
/** Those counted apart in one minute; the others share a count, so that a flood from everywhere takes no memory. */
const mostKeys = 50_000;

/** Against floods, kept in memory, on each node: counting must cost less than what it refuses. */
export function createMinuteCounts({ clock }: { readonly clock: Pick<Clock, 'now'> }): RequestCounts {
  const counts = new Map<string, number>();
  let current = -1;
  return {
    count(name, most) {
      const now = clock.now();
      const window = Math.floor(now / minute);
      if (window !== current) {
        current = window;
        counts.clear();
      }
      const key = counts.has(name) || counts.size < mostKeys ? name : 'others';
      const calls = (counts.get(key) ?? 0) + 1;
      counts.set(key, calls);
      if (calls <= most) return;
      const seconds = Math.max(1, Math.ceil(((window + 1) * minute - now) / 1000));
      throw errors.rate_limited({
        values: { wait: formatWait(seconds * 1000) },
        headers: { 'Retry-After': String(seconds) },
      });
    },
  };
}
