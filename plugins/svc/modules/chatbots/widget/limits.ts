import { errors } from '../../../kit/errors.ts';
import { createLimitCounters, limitFor } from '../../../kit/visitors/limit-counters.ts';
import type { CountedLimit, LimitCounters, LimitParts, Reserved } from '../../../kit/visitors/limit-counters.ts';
import type { BotLimit } from '../bots/bot.ts';
import type { WidgetLimit } from './protocol.ts';
import type { Visitor } from './visitor.ts';
import { widgetCounters } from './widget-tables.ts';

type Unit = BotLimit['unit'];
export type ActiveLimit = CountedLimit<Unit>;
export type Reservation = Reserved<Unit>;
export type Limits = LimitCounters<Visitor, Unit>;

/** Limits of visitors, counted in the database across all nodes. */
export function createLimits(parts: LimitParts): Limits {
  return createLimitCounters({
    ...parts,
    ...widgetCounters,
    async find({ bot, user, session, ip }: Visitor) {
      const visitor = { bot, user, session: session.id, ip };
      const set = await parts.host.hooks.applyFiltersAsync('svc_chatbot_limit', limitFor(bot.limits, user), visitor);
      return set !== null && set.amount > 0 ? { ...set, scope: bot.id } : null;
    },
  });
}

/** What a guest reads where only signed-in users may chat; else null. */
export function guestRefusal({ bot, user }: Pick<Visitor, 'bot' | 'user'>): WidgetLimit | null {
  return user.id > 0 || bot.limits.allow_guests ? null : { message: bot.limits.guest_message, until: null };
}

/** @throws RestError 403 `rest_svc_guests_not_allowed` with `data.limit` */
export function refuseGuest(visitor: Pick<Visitor, 'bot' | 'user'>): void {
  const limit = guestRefusal(visitor);
  if (limit !== null) throw errors.guests_not_allowed({ values: { reason: limit.message }, data: { limit } });
}
