import type { DatabaseApi } from '#plugin-api';
import type { Period, PeriodName } from './period.ts';

/** A limit in the period that runs, for those whose use it counts. */
export interface CountedLimit extends Period {
  /** What the limit is of: the number of a chatbot or a form. */
  readonly scope: number;
  /** Whose use is counted; each must have something left. In one order always, so that two transactions never wait for each other. */
  readonly subjects: readonly string[];
  /** What is counted. */
  readonly unit: string;
  readonly per: PeriodName;
  readonly amount: number;
}

/** Something taken from a limit before it is known what it will really be. */
export type Reserved = Pick<CountedLimit, 'scope' | 'subjects' | 'unit' | 'per' | 'startsAt' | 'amount'>;

export interface LimitCounters {
  left(limit: CountedLimit): Promise<number>;
  /**
   * Takes up to `most`, at least `least`, in the running transaction, which holds the counters until it ends: however many
   * ask at once, over all nodes, together they take no more than there is. Null: less than `least` is left.
   */
  reserve(limit: CountedLimit, amount: { readonly least: number; readonly most: number }): Promise<Reserved | null>;
  /** Puts what was really used in place of what was reserved. */
  settle(taken: Reserved, used: number): Promise<void>;
  /** Forgets periods that began before a moment, in milliseconds since the epoch. */
  sweep(before: number): Promise<void>;
}

export interface LimitCountersInit {
  readonly database: Pick<DatabaseApi, 'knex' | 'dialect'>;
  /** With the columns of the scope, `subject`, `unit`, `per`, `starts_at` (its key) and `used`. */
  readonly table: string;
  /** Column of the scope. */
  readonly scopeColumn: string;
}

interface Row {
  readonly used: number | string;
}

/** What of limits is used up, counted in a table: one count for all nodes. */
export function createLimitCounters({ database, table, scopeColumn }: LimitCountersInit): LimitCounters {
  const counters = () => database.knex(table);
  const keys = [scopeColumn, 'subject', 'unit', 'per', 'starts_at'];
  const rowOf = ({ scope, unit, per, startsAt }: Reserved | CountedLimit, subject: string) => ({
    [scopeColumn]: scope,
    subject,
    unit,
    per,
    starts_at: startsAt,
  });

  async function held(limit: CountedLimit, subject: string): Promise<number> {
    const key = rowOf(limit, subject);
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
      const { subject: _none, ...key } = rowOf(limit, '');
      const row = (await counters().where(key).whereIn('subject', limit.subjects).max({ used: 'used' }).first()) as
        Row | undefined;
      return Math.max(0, limit.amount - Number(row?.used ?? 0));
    },
    async reserve(limit, { least, most }) {
      let left = limit.amount;
      for (const subject of limit.subjects) left = Math.min(left, limit.amount - (await held(limit, subject)));
      const amount = Math.min(most, left);
      if (amount < least) return null;
      for (const subject of limit.subjects) await counters().where(rowOf(limit, subject)).increment('used', amount);
      const { scope, subjects, unit, per, startsAt } = limit;
      return { scope, subjects, unit, per, startsAt, amount };
    },
    async settle(taken, used) {
      const more = used - taken.amount;
      if (more === 0) return;
      for (const subject of taken.subjects) {
        await counters()
          .where(rowOf(taken, subject))
          .update({ used: database.knex.raw('case when used + ? < 0 then 0 else used + ? end', [more, more]) });
      }
    },
    async sweep(before) {
      await counters().where('starts_at', '<', before).delete();
    },
  };
}
