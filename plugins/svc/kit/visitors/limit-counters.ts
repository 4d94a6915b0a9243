import { clientNetwork, requiredColumns, retryAfter, type HostApi, type Knex, type User } from '#plugin-api';
import { findPeriod, type Period, type PeriodName } from './period.ts';
import type { Signer } from './signer.ts';

/** Messages or submissions of a guest per day that new chatbots and forms allow: what strangers cost is bounded from the start. */
export const guestLimitPerDay = 50;

/** A limit in the current period, with the subjects that it counts. */
export interface CountedLimit<Unit extends string = string> extends Period {
  /** The id of a chatbot or a form. */
  readonly scope: number;
  /** Whose use is counted; each must have enough left. Always in the same order, so that two transactions cannot deadlock. */
  readonly subjects: readonly string[];
  /** What is counted. */
  readonly unit: Unit;
  readonly per: PeriodName;
  readonly amount: number;
}

/** An amount reserved before the actual use is known. */
export type Reserved<Unit extends string = string> = Omit<CountedLimit<Unit>, 'endsAt'>;

/** Whose limit it is. */
export interface LimitedVisitor {
  readonly user: Pick<User, 'id'>;
  readonly session: { readonly id: string };
  readonly ip: string;
}

/** What a visitor reads when a limit is used up. */
export interface ShownLimit {
  readonly message: string;
  /** ISO 8601: start of the next period. */
  readonly until: string;
}

export interface LimitCounters<Visitor extends LimitedVisitor, Unit extends string = string> {
  /** The limit of a visitor in the current period of the site's time zone. Null: none. */
  of(visitor: Visitor): Promise<CountedLimit<Unit> | null>;
  left(limit: CountedLimit): Promise<number>;
  /** What to show when nothing is left; else null. */
  usedUp(limit: CountedLimit | null, texts: { readonly message: string }): Promise<ShownLimit | null>;
  /** What the error of a request that the limit refuses contains. */
  refusal(limit: CountedLimit, texts: { readonly message: string }): LimitRefusal;
  /**
   * Reserves up to `most`, at least `least`, in the running transaction, which locks the counters until it ends. So concurrent
   * requests on all nodes never exceed the limit. Null: less than `least` is left.
   */
  reserve(
    limit: CountedLimit<Unit>,
    amount: { readonly least: number; readonly most: number },
  ): Promise<Reserved<Unit> | null>;
  /** Replaces the reserved amount with the actual use. */
  settle(reserved: Reserved, used: number): Promise<void>;
  /** Deletes old periods. */
  sweep(): Promise<void>;
}

export interface LimitRefusal {
  readonly values: { readonly reason: string };
  readonly data: { readonly limit: ShownLimit };
  /** `Retry-After`: the next period. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a limit for visitors is created with. */
export interface LimitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>;
  readonly signer: Signer;
}

/** A table of counters. */
export interface CounterTable {
  readonly table: string;
  /** Column of the scope. */
  readonly scopeColumn: string;
}

/** The table is created by `createCounterTable`. */
export interface LimitCountersInit<Visitor, Unit extends string> extends LimitParts, CounterTable {
  /** The limit that applies to a visitor. Null: none. */
  readonly find: (visitor: Visitor) => Promise<Pick<CountedLimit<Unit>, 'scope' | 'unit' | 'per' | 'amount'> | null>;
}

/** Creates a table of counters, one row per scope, subject, unit and period. For migrations. */
export async function createCounterTable(knex: Knex, { table, scopeColumn }: CounterTable): Promise<void> {
  await knex.schema.createTable(table, (columns) => {
    columns.integer(scopeColumn).notNullable();
    // `s:` session, `a:` hash of an address, `u:` user.
    columns.text('subject').notNullable();
    requiredColumns(columns).text('unit', 'per').bigInteger('starts_at', 'used');
    columns.primary([scopeColumn, 'subject', 'unit', 'per', 'starts_at']);
  });
  await knex.raw(`CREATE INDEX ${table}_starts_at ON ${table} (starts_at)`);
}

interface Row {
  readonly used: number | string;
}

/** Longer than the longest period, a month. */
const retention = 40 * 24 * 3600_000;

/** A limit that is set for guests, users and roles. 0: none. */
export interface SetLimit {
  readonly amount: number;
  readonly per: PeriodName;
  readonly unit?: string;
}

/** The limit for a guest, a user, or the most generous of the user's roles. */
export function limitFor<Limit extends SetLimit>(
  {
    guest,
    user,
    roles,
  }: { readonly guest: Limit; readonly user: Limit; readonly roles: Readonly<Record<string, Limit>> },
  { id, roles: names }: Pick<User, 'id' | 'roles'>,
): Limit {
  if (id === 0) return guest;
  const [first = user, ...others] = names.flatMap((role) => (Object.hasOwn(roles, role) ? [roles[role] as Limit] : []));
  return others.reduce((best, limit) => (generosity(limit) > generosity(best) ? limit : best), first);
}

/** Tokens per month of a limit; anything else, such as a message, counts as 1,000. */
function generosity({ amount, unit, per }: SetLimit): number {
  if (amount <= 0) return Number.POSITIVE_INFINITY;
  return amount * (unit === 'tokens' ? 1 : 1000) * { day: 30, week: 30 / 7, month: 1 }[per];
}

/** Counts the use of limits in a table, shared by all nodes. */
export function createLimitCounters<Visitor extends LimitedVisitor, Unit extends string>({
  host,
  signer,
  table,
  scopeColumn,
  find,
}: LimitCountersInit<Visitor, Unit>): LimitCounters<Visitor, Unit> {
  const { database, clock, site } = host;
  const counters = () => database.knex(table);
  const keys = [scopeColumn, 'subject', 'unit', 'per', 'starts_at'];
  const rowKey = ({ scope, unit, per, startsAt }: Reserved, subject: string) => ({
    [scopeColumn]: scope,
    subject,
    unit,
    per,
    starts_at: startsAt,
  });

  async function lockUsed(limit: CountedLimit, subject: string): Promise<number> {
    const key = rowKey(limit, subject);
    await counters()
      .insert({ ...key, used: 0 })
      .onConflict(keys)
      .ignore();
    const query = counters().where(key).first('used');
    const row = (await (database.dialect === 'postgresql' ? query.forUpdate() : query)) as Row | undefined;
    return Number(row?.used ?? 0);
  }

  async function left(limit: CountedLimit): Promise<number> {
    const { subject: _none, ...key } = rowKey(limit, '');
    const row = (await counters().where(key).whereIn('subject', limit.subjects).max({ used: 'used' }).first()) as
      Row | undefined;
    return Math.max(0, limit.amount - Number(row?.used ?? 0));
  }

  /** A user by id, a guest by session and by address. */
  async function subjectsOf({ user, session, ip }: Visitor): Promise<string[]> {
    if (user.id > 0) return [`u:${String(user.id)}`];
    const network = clientNetwork(ip);
    const address =
      network === '' ? [] : [`a:${(await signer.sign('address', [network])).toString('base64url').slice(0, 22)}`];
    return [...address, `s:${session.id}`];
  }

  const shown = ({ endsAt }: CountedLimit, { message }: { readonly message: string }): ShownLimit => ({
    message,
    until: new Date(endsAt).toISOString(),
  });

  return {
    async of(visitor) {
      const limit = await find(visitor);
      if (limit === null) return null;
      const period = findPeriod(limit.per, clock.now(), await site.timezone());
      return { ...limit, ...period, subjects: await subjectsOf(visitor) };
    },
    left,
    usedUp: async (limit, texts) => (limit !== null && (await left(limit)) <= 0 ? shown(limit, texts) : null),
    refusal: (limit, texts) => ({
      values: { reason: texts.message },
      data: { limit: shown(limit, texts) },
      headers: retryAfter(limit.endsAt - clock.now()),
    }),
    async reserve(limit, { least, most }) {
      let left = limit.amount;
      for (const subject of limit.subjects) left = Math.min(left, limit.amount - (await lockUsed(limit, subject)));
      const amount = Math.min(most, left);
      if (amount < least) return null;
      for (const subject of limit.subjects) await counters().where(rowKey(limit, subject)).increment('used', amount);
      const { scope, subjects, unit, per, startsAt } = limit;
      return { scope, subjects, unit, per, startsAt, amount };
    },
    async settle(reserved, used) {
      const more = used - reserved.amount;
      if (more === 0) return;
      for (const subject of reserved.subjects) {
        await counters()
          .where(rowKey(reserved, subject))
          .update({ used: database.knex.raw('case when used + ? < 0 then 0 else used + ? end', [more, more]) });
      }
    },
    async sweep() {
      await counters()
        .where('starts_at', '<', clock.now() - retention)
        .delete();
    },
  };
}
