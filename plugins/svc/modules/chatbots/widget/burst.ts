import type { Clock, HooksApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { Bot } from '../bots/bot.ts';
import { networkOf } from './address.ts';

/** How often within a minute of the clock, on each node. */
export interface BurstLimits {
  readonly starts_per_address: number;
  /** Messages, forms and feedback. */
  readonly sends_per_address: number;
  readonly sends_per_session: number;
}

export const burstLimits: BurstLimits = { starts_per_address: 120, sends_per_address: 240, sends_per_session: 30 };

export interface Burst {
  /** Counts a call. @throws RestError 429 `rest_svc_rate_limited` with `Retry-After`. */
  start(bot: Bot, ip: string): void;
  send(bot: Bot, from: { readonly ip: string; readonly session: string }): void;
}

const minute = 60_000;
/** Those counted apart in one minute; the others share a count, so that a flood from everywhere takes no memory. */
const mostKeys = 50_000;

/** Against floods, kept in memory: counting must cost less than what it refuses. Limits of visitors are another matter: see `limits.ts`. */
export function createBurst({ clock, hooks }: { readonly clock: Pick<Clock, 'now'>; readonly hooks: Pick<HooksApi, 'applyFilters'> }): Burst {
  const counts = new Map<string, number>();
  let current = -1;

  function count(name: string, most: number): void {
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
    throw errors.rate_limited({ values: { seconds }, headers: { 'Retry-After': String(seconds) } });
  }

  const limitsOf = (bot: Bot): BurstLimits => hooks.applyFilters('svc_chatbot_burst_limits', burstLimits, bot);
  return {
    start(bot, ip) {
      count(`starts ${networkOf(ip)}`, limitsOf(bot).starts_per_address);
    },
    send(bot, { ip, session }) {
      const limits = limitsOf(bot);
      count(`session ${session}`, limits.sends_per_session);
      count(`sends ${networkOf(ip)}`, limits.sends_per_address);
    },
  };
}
