import { clientNetwork, type Clock, type HooksApi } from '#plugin-api';
import { createMinuteCounts } from '../../../kit/rate-limit.ts';
import type { Bot } from '../bots/bot.ts';

/** Calls per minute of the clock, counted on each node. */
export interface FloodThresholds {
  readonly starts_per_address: number;
  /** Messages, forms and feedback. */
  readonly sends_per_address: number;
  readonly sends_per_session: number;
}

export const defaultThresholds: FloodThresholds = {
  starts_per_address: 120,
  sends_per_address: 240,
  sends_per_session: 30,
};

export interface FloodLimit {
  /** Counts a call to `start`. @throws RestError 429 `rest_svc_rate_limited` with `Retry-After`. */
  countStart(bot: Bot, ip: string): void;
  /** Counts a message, form or rating. Throws the same. */
  countSend(bot: Bot, from: { readonly ip: string; readonly session: string }): void;
}

/** Rejects floods of calls; see `rate-limit.ts`. The limits that a bot sets for visitors are in `limits.ts`. */
export function createFloodLimit({
  clock,
  hooks,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
}): FloodLimit {
  const { count } = createMinuteCounts({ clock });
  const thresholdsFor = (bot: Bot): FloodThresholds =>
    hooks.applyFilters('svc_chatbot_burst_limits', defaultThresholds, bot);
  return {
    countStart(bot, ip) {
      count(`starts ${clientNetwork(ip)}`, thresholdsFor(bot).starts_per_address);
    },
    countSend(bot, { ip, session }) {
      const limits = thresholdsFor(bot);
      count(`session ${session}`, limits.sends_per_session);
      count(`sends ${clientNetwork(ip)}`, limits.sends_per_address);
    },
  };
}
