import type { HostApi } from '#plugin-api';
import { networkOf } from '../../../kit/visitors/address.ts';
import { createLimitCounters, type CountedLimit, type Taken } from '../../../kit/visitors/limit-counters.ts';
import { periodOf } from '../../../kit/visitors/period.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { Bot, BotLimit } from '../bots/bot.ts';
import type { WidgetLimit } from './protocol.ts';
import type { Visitor } from './visitor.ts';
import { widgetTables } from './widget-tables.ts';

/** The limit that counts for a visitor, in the period that runs. */
export interface LimitInForce extends BotLimit, CountedLimit {
  readonly unit: BotLimit['unit'];
  readonly per: BotLimit['per'];
  readonly amount: number;
}

export type Reservation = Taken & Pick<LimitInForce, 'unit'>;

export interface Limits {
  /** Null: there is none. */
  of(visitor: Visitor): Promise<LimitInForce | null>;
  /** See LimitCounters. */
  left(limit: LimitInForce): Promise<number>;
  reserve(limit: LimitInForce, amount: { readonly least: number; readonly most: number }): Promise<Reservation | null>;
  settle(reservation: Reservation, used: number): Promise<void>;
  shown(bot: Bot, limit: LimitInForce): WidgetLimit;
  /** Forgets periods that are long over. */
  sweep(): Promise<void>;
}

export interface LimitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}

/** No period is longer than a month. */
const keptFor = 40 * 24 * 3600_000;

/** Limits of visitors, counted in the database: one count for all nodes. */
export function createLimits({ host, signer }: LimitParts): Limits {
  const { database, clock, site, hooks } = host;
  const counters = createLimitCounters({ database, table: widgetTables.counters, scopeColumn: 'bot_id' });

  return {
    async of(visitor) {
      const { bot, user, session, ip } = visitor;
      const set = await hooks.applyFiltersAsync('svc_chatbot_limit', limitFor(bot, user), {
        bot,
        user,
        session: session.id,
        ip,
      });
      if (set === null || !(set.amount > 0)) return null;
      const network = networkOf(ip);
      const address =
        network === '' ? [] : [`a:${(await signer.sign('address', [network])).toString('base64url').slice(0, 22)}`];
      // In order, so that two transactions never wait for each other.
      const subjects = user.id > 0 ? [`u:${String(user.id)}`] : [...address, `s:${session.id}`];
      return { ...set, ...periodOf(set.per, clock.now(), await site.timezone()), scope: bot.id, subjects };
    },
    left: counters.left,
    reserve: async (limit, amount) => (await counters.reserve(limit, amount)) as Reservation | null,
    settle: counters.settle,
    shown: ({ limits }, { endsAt }) => ({ message: limits.message, until: new Date(endsAt).toISOString() }),
    sweep: () => counters.sweep(clock.now() - keptFor),
  };
}

/** What is set for a guest, a user, or one of the user's roles. */
export function limitFor({ limits }: Pick<Bot, 'limits'>, user: Pick<Visitor['user'], 'id' | 'roles'>): BotLimit {
  if (user.id === 0) return limits.guest;
  const ofRoles = user.roles.flatMap((role) =>
    Object.hasOwn(limits.roles, role) ? [limits.roles[role] as BotLimit] : [],
  );
  const [first = limits.user, ...others] = ofRoles;
  return others.reduce((best, limit) => (generosity(limit) > generosity(best) ? limit : best), first);
}

/** Tokens a month that a limit comes to, a message counted as a thousand. */
function generosity({ amount, unit, per }: BotLimit): number {
  if (amount <= 0) return Number.POSITIVE_INFINITY;
  return amount * (unit === 'messages' ? 1000 : 1) * { day: 30, week: 30 / 7, month: 1 }[per];
}
