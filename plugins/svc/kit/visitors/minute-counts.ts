import { createMinuteCounter, formatWait, type Clock } from '#plugin-api';
import { errors } from '../errors.ts';

export interface RequestCounts {
  /** Counts a call. @throws RestError 429 `rest_svc_rate_limited` with `Retry-After` after `most` calls in the current minute */
  count(name: string, most: number): void;
}

/** Protects against floods. Counts in memory on each node. */
export function createMinuteCounts({ clock }: { readonly clock: Pick<Clock, 'now'> }): RequestCounts {
  const count = createMinuteCounter({ clock });
  return {
    count(name, most) {
      const { calls, seconds } = count(name);
      if (calls <= most) return;
      throw errors.rate_limited({
        values: { wait: formatWait(seconds * 1000) },
        headers: { 'Retry-After': String(seconds) },
      });
    },
  };
}
