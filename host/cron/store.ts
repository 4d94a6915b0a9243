import { randomUUID } from 'node:crypto';
import type { Database } from '../database/database-contract.ts';

/** A stored event. Times in milliseconds since the epoch. */
export interface StoredEvent {
  readonly id: string;
  readonly hook: string;
  readonly args: readonly unknown[];
  readonly schedule: string | null;
  readonly nextRun: number;
}

export interface CronRun {
  readonly hook: string;
  readonly args: readonly unknown[];
  readonly schedule: string | null;
  readonly dueAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  /** `unheard`: no callback listens to the hook, its plugin may be inactive. */
  readonly outcome: 'done' | 'failed' | 'unheard';
  readonly error: string | null;
}

/** An event this node alone may run until the lease ends. */
export interface Claim {
  readonly event: StoredEvent;
  readonly token: string;
}

interface EventRow {
  readonly id: string;
  readonly hook: string;
  readonly args: string;
  readonly schedule: string | null;
  readonly next_run: number | string;
}

interface RunRow {
  readonly hook: string;
  readonly args: string;
  readonly schedule: string | null;
  readonly due_at: number | string;
  readonly started_at: number | string;
  readonly finished_at: number | string;
  readonly outcome: CronRun['outcome'];
  readonly error: string | null;
}

/** Milliseconds a claim holds without being renewed; another node takes the event over afterwards. */
export const leaseLength = 60_000;
/** Runs kept for each hook. */
const historyLength = 50;

/** The SQL of cron. Leases are measured on the database's clock, so nodes with clocks that differ agree. */
export function createCronStore(database: Database) {
  const { knex } = database;
  const events = () => knex<EventRow>('cron_events');
  const owned = ({ event, token }: Claim) => knex('cron_events').where({ id: event.id, lease_token: token });

  return {
    async insert(event: Omit<StoredEvent, 'id'>): Promise<boolean> {
      const row = { id: randomUUID(), hook: event.hook, args: JSON.stringify(event.args), schedule: event.schedule, next_run: event.nextRun };
      const inserted: unknown[] = await knex('cron_events').insert(row).onConflict(['hook', 'args', 'next_run']).ignore().returning('id');
      return inserted.length > 0;
    },

    async find({ hook, args }: { hook?: string; args?: readonly unknown[] } = {}): Promise<StoredEvent[]> {
      const query = events().orderBy('next_run').orderBy('id');
      if (hook !== undefined) void query.where({ hook });
      if (args !== undefined) void query.where({ args: JSON.stringify(args) });
      return (await query).map(toEvent);
    },

    async remove({ hook, args }: { hook: string; args?: readonly unknown[] }): Promise<number> {
      const query = knex('cron_events').where({ hook });
      if (args !== undefined) void query.where({ args: JSON.stringify(args) });
      return query.delete();
    },

    async due(now: number): Promise<StoredEvent[]> {
      return (await events().where('next_run', '<=', now).where('leased_until', '<', database.now()).orderBy('next_run').limit(50)).map(toEvent);
    },

    async earliest(): Promise<number | null> {
      const row = await knex('cron_events').min({ first: 'next_run' }).first<{ first: number | string | null }>();
      return row.first === null ? null : Number(row.first);
    },

    /** Null when another node was quicker, or the event was changed or removed. */
    async claim(event: StoredEvent): Promise<Claim | null> {
      const token = randomUUID();
      const claimed = await knex('cron_events')
        .where({ id: event.id, next_run: event.nextRun })
        .where('leased_until', '<', database.now())
        .update({ lease_token: token, leased_until: knex.raw('? + ?', [database.now(), leaseLength]) });
      return claimed === 1 ? { event, token } : null;
    },

    async renew(claim: Claim): Promise<boolean> {
      return (await owned(claim).update({ leased_until: knex.raw('? + ?', [database.now(), leaseLength]) })) === 1;
    },

    /** Ends a claim: the event moves on to `nextRun`, or is gone. Nothing happens when the lease went to another node. */
    async release(claim: Claim, nextRun: number | null): Promise<void> {
      if (nextRun === null) await owned(claim).delete();
      else await owned(claim).update({ next_run: nextRun, lease_token: null, leased_until: 0 });
    },
  };
}

/** The record of what ran. */
export function createCronHistory({ knex }: Database) {
  return {
    async record(run: CronRun): Promise<void> {
      await knex('cron_runs').insert({
        id: randomUUID(),
        hook: run.hook,
        args: JSON.stringify(run.args),
        schedule: run.schedule,
        due_at: run.dueAt,
        started_at: run.startedAt,
        finished_at: run.finishedAt,
        outcome: run.outcome,
        error: run.error,
      });
      const kept = knex('cron_runs').where({ hook: run.hook }).orderBy('started_at', 'desc').limit(historyLength).select('id');
      await knex('cron_runs').where({ hook: run.hook }).whereNotIn('id', knex.select('id').from(kept.as('kept'))).delete();
    },

    async list({ hook, limit }: { hook?: string; limit: number }): Promise<CronRun[]> {
      const query = knex<RunRow>('cron_runs').orderBy('started_at', 'desc').limit(limit);
      if (hook !== undefined) void query.where({ hook });
      return (await query).map(toRun);
    },
  };
}

export type CronHistory = ReturnType<typeof createCronHistory>;
export type CronStore = ReturnType<typeof createCronStore>;

function toEvent(row: EventRow): StoredEvent {
  return { id: row.id, hook: row.hook, args: JSON.parse(row.args) as unknown[], schedule: row.schedule, nextRun: Number(row.next_run) };
}

function toRun(row: RunRow): CronRun {
  return {
    hook: row.hook,
    args: JSON.parse(row.args) as unknown[],
    schedule: row.schedule,
    dueAt: Number(row.due_at),
    startedAt: Number(row.started_at),
    finishedAt: Number(row.finished_at),
    outcome: row.outcome,
    error: row.error,
  };
}
