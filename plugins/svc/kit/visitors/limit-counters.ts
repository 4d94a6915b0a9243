import type { DatabaseApi } from '#plugin-api';
import type { Period, PeriodName } from './period.ts';

/** Messages or submissions of a guest per day that new chatbots and forms allow: what strangers cost is bounded from the start. */
export const guestLimitPerDay = 50;

/** A limit in the current period, with the subjects that it counts. */
export interface CountedLimit extends Period {
  /** The id of a chatbot or a form. */
  readonly scope: number;
  /** Whose use is counted; each must have enough left. Always in the same order, so that two transactions cannot deadlock. */
  readonly subjects: readonly string[];
  /** What is counted. */
  readonly unit: string;
  readonly per: PeriodName;
  readonly amount: number;
}

/** An amount reserved before the actual use is known. */
export type Reserved = Pick<CountedLimit, 'scope' | 'subjects' | 'unit' | 'per' | 'startsAt' | 'amount'>;

export interface LimitCounters {
  left(limit: CountedLimit): Promise<number>;
  /**
   * Reserves up to `most`, at least `least`, in the running transaction, which locks the counters until it ends. So concurrent
   * requests on all nodes never exceed the limit. Null: less than `least` is left.
   */
  reserve(limit: CountedLimit, amount: { readonly least: number; readonly most: number }): Promise<Reserved | null>;
  /** Replaces the reserved amount with the actual use. */
  settle(reserved: Reserved, used: number): Promise<void>;
  /** Deletes periods that began before a time in milliseconds since the epoch. */
  sweep(before: number): Promise<void>;
}

export interface LimitCountersInit {
  readonly database: Pick<DatabaseApi, 'knex' | 'dialect'>;
  /** Its key has the scope column, `subject`, `unit`, `per` and `starts_at`; it also has `used`. */
  readonly table: string;
  /** Column of the scope. */
  readonly scopeColumn: string;
}

interface Row {
  readonly used: number | string;
}

/** Counts the use of limits in a table, shared by all nodes. */
export function createLimitCounters({ database, table, scopeColumn }: LimitCountersInit): LimitCounters {
  const counters = () => database.knex(table);
  const keys = [scopeColumn, 'subject', 'unit', 'per', 'starts_at'];
  const rowKey = ({ scope, unit, per, startsAt }: Reserved | CountedLimit, subject: string) => ({
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

  return {
    async left(limit) {
      const { subject: _none, ...key } = rowKey(limit, '');
      const row = (await counters().where(key).whereIn('subject', limit.subjects).max({ used: 'used' }).first()) as
        Row | undefined;
      return Math.max(0, limit.amount - Number(row?.used ?? 0));
    },
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
    async sweep(before) {
      await counters().where('starts_at', '<', before).delete();
    },
  };
}
