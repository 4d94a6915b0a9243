import type { HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { createLimitCounters, limitFor } from '../../../kit/visitors/limit-counters.ts';
import type { CountedLimit, Reserved } from '../../../kit/visitors/limit-counters.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { Bot, BotLimit } from '../bots/bot.ts';
import type { WidgetLimit } from './protocol.ts';
import type { Visitor } from './visitor.ts';
import { widgetTables } from './widget-tables.ts';

/** The limit that applies to a visitor in the current period. */
export interface ActiveLimit extends BotLimit, CountedLimit {
  readonly unit: BotLimit['unit'];
  readonly per: BotLimit['per'];
  readonly amount: number;
}

export type Reservation = Reserved & Pick<ActiveLimit, 'unit'>;

export interface Limits {
  /** Null when the visitor has no limit. */
  findFor(visitor: Visitor): Promise<ActiveLimit | null>;
  /** See LimitCounters. */
  remaining(limit: ActiveLimit): Promise<number>;
  reserve(limit: ActiveLimit, amount: { readonly least: number; readonly most: number }): Promise<Reservation | null>;
  settle(reservation: Reservation, used: number): Promise<void>;
  toWidgetLimit(bot: Bot, limit: ActiveLimit): WidgetLimit;
  /** Deletes counters of past periods. */
  sweep(): Promise<void>;
}

export interface LimitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}

/** Limits of visitors, counted in the database across all nodes. */
export function createLimits({ host, signer }: LimitParts): Limits {
  const counters = createLimitCounters({ host, signer, table: widgetTables.counters, scopeColumn: 'bot_id' });

  return {
    async findFor(visitor) {
      const { bot, user, session, ip } = visitor;
      const configured = await host.hooks.applyFiltersAsync('svc_chatbot_limit', limitFor(bot.limits, user), {
        bot,
        user,
        session: session.id,
        ip,
      });
      if (configured === null || !(configured.amount > 0)) return null;
      return counters.of({ user, session: session.id, ip }, { ...configured, scope: bot.id });
    },
    remaining: counters.left,
    reserve: async (limit, amount) => (await counters.reserve(limit, amount)) as Reservation | null,
    settle: counters.settle,
    toWidgetLimit: ({ limits }, { endsAt }) => ({ message: limits.message, until: new Date(endsAt).toISOString() }),
    sweep: counters.sweep,
  };
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
