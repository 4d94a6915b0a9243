import type { HostApi } from '#plugin-api';
import type { Bot, BotLimit } from '../bots/bot.ts';
import { networkOf } from './address.ts';
import { periodOf, type Period } from './period.ts';
import type { WidgetLimit } from './protocol.ts';
import type { Signer } from './signer.ts';
import type { Visitor } from './visitor.ts';
import { widgetTables } from './widget-tables.ts';

/** The limit that counts for a visitor, in the period that runs. */
export interface LimitInForce extends BotLimit, Period {
  readonly botId: number;
  /** Whose use is counted; each must have something left. */
  readonly subjects: readonly string[];
}

/** Something taken from a limit before it is known what it will really be. */
export interface Reservation extends Pick<LimitInForce, 'botId' | 'subjects' | 'unit' | 'per' | 'startsAt'> {
  readonly amount: number;
}

export interface Limits {
  /** Null: there is none. */
  of(visitor: Visitor): Promise<LimitInForce | null>;
  left(limit: LimitInForce): Promise<number>;
  /**
   * Takes up to `most`, at least `least`, in the running transaction, which holds the counters until it ends: however many
   * send at once, over all nodes, together they take no more than there is. Null: less than `least` is left.
   */
  reserve(limit: LimitInForce, amount: { readonly least: number; readonly most: number }): Promise<Reservation | null>;
  /** Puts what was really used in place of what was reserved. */
  settle(reservation: Reservation, used: number): Promise<void>;
  shown(bot: Bot, limit: LimitInForce): WidgetLimit;
  /** Forgets periods that are long over. */
  sweep(): Promise<void>;
}

export interface LimitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}

interface Row {
  readonly used: number | string;
}

/** No period is longer than a month. */
const keptFor = 40 * 24 * 3600_000;
const keys = ['bot_id', 'subject', 'unit', 'per', 'starts_at'];

/** Limits of visitors, counted in the database: one count for all nodes. */
export function createLimits({ host, signer }: LimitParts): Limits {
  const { database, clock, site, hooks } = host;
  const counters = () => database.knex(widgetTables.counters);
  const rowOf = ({ botId, unit, per, startsAt }: Reservation | LimitInForce, subject: string) => ({ bot_id: botId, subject, unit, per, starts_at: startsAt });

  async function held(limit: LimitInForce, subject: string): Promise<number> {
    const key = rowOf(limit, subject);
    await counters().insert({ ...key, used: 0 }).onConflict(keys).ignore();
    const query = counters().where(key).first('used');
    const row = (await (database.dialect === 'postgresql' ? query.forUpdate() : query)) as Row | undefined;
    return Number(row?.used ?? 0);
  }

  return {
    async of(visitor) {
      const { bot, user, session, ip } = visitor;
      const set = await hooks.applyFiltersAsync('svc_chatbot_limit', limitFor(bot, user), { bot, user, session: session.id, ip });
      if (set === null || !(set.amount > 0)) return null;
      const network = networkOf(ip);
      const address = network === '' ? [] : [`a:${(await signer.sign('address', [network])).toString('base64url').slice(0, 22)}`];
      // In order, so that two transactions never wait for each other.
      const subjects = user.id > 0 ? [`u:${String(user.id)}`] : [...address, `s:${session.id}`];
      return { ...set, ...periodOf(set.per, clock.now(), await site.timezone()), botId: bot.id, subjects };
    },
    async left(limit) {
      const { bot_id, unit, per, starts_at } = rowOf(limit, '');
      const row = (await counters().where({ bot_id, unit, per, starts_at }).whereIn('subject', limit.subjects).max({ used: 'used' }).first()) as Row | undefined;
      return Math.max(0, limit.amount - Number(row?.used ?? 0));
    },
    async reserve(limit, { least, most }) {
      let left = limit.amount;
      for (const subject of limit.subjects) left = Math.min(left, limit.amount - (await held(limit, subject)));
      const amount = Math.min(most, left);
      if (amount < least) return null;
      for (const subject of limit.subjects) await counters().where(rowOf(limit, subject)).increment('used', amount);
      const { botId, subjects, unit, per, startsAt } = limit;
      return { botId, subjects, unit, per, startsAt, amount };
    },
    async settle(reservation, used) {
      const more = used - reservation.amount;
      if (more === 0) return;
      for (const subject of reservation.subjects) {
        await counters().where(rowOf(reservation, subject)).update({ used: database.knex.raw('case when used + ? < 0 then 0 else used + ? end', [more, more]) });
      }
    },
    shown: ({ limits }, { endsAt }) => ({ message: limits.message, until: new Date(endsAt).toISOString() }),
    async sweep() {
      await counters().where('starts_at', '<', clock.now() - keptFor).delete();
    },
  };
}

/** What is set for a guest, a user, or one of the user's roles. */
export function limitFor({ limits }: Pick<Bot, 'limits'>, user: Pick<Visitor['user'], 'id' | 'roles'>): BotLimit {
  if (user.id === 0) return limits.guest;
  const ofRoles = user.roles.flatMap((role) => (Object.hasOwn(limits.roles, role) ? [limits.roles[role] as BotLimit] : []));
  const [first = limits.user, ...others] = ofRoles;
  return others.reduce((best, limit) => (generosity(limit) > generosity(best) ? limit : best), first);
}

/** Tokens a month that a limit comes to, a message counted as a thousand. */
function generosity({ amount, unit, per }: BotLimit): number {
  if (amount <= 0) return Number.POSITIVE_INFINITY;
  return amount * (unit === 'messages' ? 1000 : 1) * { day: 30, week: 30 / 7, month: 1 }[per];
}
