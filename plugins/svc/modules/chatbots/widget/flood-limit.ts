import type { Clock, HooksApi } from '#plugin-api';
import { networkOf } from '../../../kit/visitors/address.ts';
import { createMinuteCounts } from '../../../kit/visitors/minute-counts.ts';
import type { Bot } from '../bots/bot.ts';

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

/** Against floods; see `minute-counts.ts`. Limits of visitors are another matter: see `limits.ts`. */
export function createBurst({
  clock,
  hooks,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
}): Burst {
  const { count } = createMinuteCounts({ clock });
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
