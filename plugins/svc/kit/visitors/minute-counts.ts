import { formatWait, type Clock } from '#plugin-api';
import { errors } from '../errors.ts';

export interface RequestCounts {
  /** Counts a call. @throws RestError 429 `rest_svc_rate_limited` with `Retry-After` after `most` calls in the current minute */
  count(name: string, most: number): void;
}

const minute = 60_000;
/** Separate counts in one minute. All others share one count, so that a flood from many addresses needs little memory. */
const maxKeys = 50_000;

/** Protects against floods. Counts in memory on each node, because counting must cost less than the refused calls. */
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
      const key = counts.has(name) || counts.size < maxKeys ? name : 'others';
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
