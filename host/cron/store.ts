import { createHash, randomUUID } from 'node:crypto';
import { createRowMapper } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';

/** A stored event. Times in milliseconds since the epoch. */
export interface StoredEvent {
  readonly id: string;
  readonly hook: string;
  readonly args: readonly unknown[];
  readonly schedule: string | null;
  readonly nextRun: number;
  /** Slug of the plugin that scheduled it, or `host`; null for events of earlier versions. */
  readonly owner: string | null;
  /** Whether a node runs it now; `nextRun` is then the time it was due. */
  readonly isRunning: boolean;
}

export interface CronRun {
  readonly hook: string;
  readonly args: readonly unknown[];
  readonly schedule: string | null;
  readonly dueAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  /** `no_callback`: the hook lost its callbacks just before the run. Before that, its events wait. */
  readonly outcome: 'done' | 'failed' | 'no_callback';
  readonly error: string | null;
}

/** An event this node alone may run until the lease ends. */
export interface Claim {
  readonly event: StoredEvent;
  readonly token: string;
  /** 1, or more if nodes crashed while running it. */
  readonly attempt: number;
}

/** Which events: all, those of a hook, those of a hook with these arguments. */
export interface EventFilter {
  readonly hook?: string | readonly string[] | undefined;
  readonly args?: readonly unknown[] | undefined;
  /** When it runs next, in milliseconds since the epoch. */
  readonly at?: number | undefined;
}

interface EventRow {
  readonly id: string;
  readonly hook: string;
  readonly args: string;
  readonly args_key: string;
  readonly schedule: string | null;
  readonly owner: string | null;
  readonly next_run: number;
  /** SQLite returns 0 or 1. */
  readonly is_running: boolean | number;
}

const runRows = createRowMapper<CronRun>({ json: ['args'], others: ['id'] });

/** Lease duration in milliseconds. Without renewal, another node may claim the event afterwards. */
export const leaseDuration = 60_000;
/** Maximum stored runs per hook. */
const maxRunsPerHook = 50;

/** The SQL of cron. Leases use the database's clock, so nodes with different clocks agree. */
export function createCronStore(database: Database) {
  const { knex } = database;
  const owned = ({ event, token }: Claim) => knex('cron_events').where({ id: event.id, lease_token: token });
  const leaseEnd = () => knex.raw('? + ?', [database.now(), leaseDuration]);

  function select({ hook, args, at }: EventFilter) {
    const query = knex<EventRow>('cron_events');
    if (hook !== undefined) void query.whereIn('hook', [hook].flat());
    if (args !== undefined) void query.where({ args_key: argsKey(args) });
    if (at !== undefined) void query.where({ next_run: at });
    return query;
  }
  const withState = (filter: EventFilter) =>
    select(filter)
      .select<EventRow[]>('*', knex.raw('leased_until >= ? AS is_running', [database.now()]))
      .orderBy('next_run')
      .orderBy('id');

  return {
    /** Returns whether any of them is new. */
    async insert(...events: readonly Omit<StoredEvent, 'id' | 'isRunning'>[]): Promise<boolean> {
      if (events.length === 0) return false;
      const rows = events.map(({ hook, args, schedule, owner, nextRun }) => ({
        id: randomUUID(),
        hook,
        args: JSON.stringify(args),
        args_key: argsKey(args),
        schedule,
        owner,
        next_run: nextRun,
      }));
      const inserted: unknown[] = await knex('cron_events')
        .insert(rows)
        .onConflict(['hook', 'args_key', 'next_run'])
        .ignore()
        .returning('id');
      return inserted.length > 0;
    },

    /** Excludes running single events: as in WordPress they are removed before they run, so their job may schedule them again. */
    async find(filter: EventFilter = {}): Promise<StoredEvent[]> {
      return (await withState(filter))
        .map(toEvent)
        .filter(({ isRunning, schedule }) => !isRunning || schedule !== null);
    },

    /** Includes running events: they will not run again. */
    async remove(filter: EventFilter): Promise<number> {
      return select(filter).delete();
    },

    async removeOwner(owner: string): Promise<number> {
      return knex('cron_events').where({ owner }).delete();
    },

    /** Gives events of earlier versions the owner who schedules them again. */
    async setOwner(hook: string, owner: string): Promise<void> {
      await knex('cron_events').where({ hook }).whereNull('owner').update({ owner });
    },

    async removeOne({ id }: StoredEvent): Promise<void> {
      await knex('cron_events').where({ id }).delete();
    },

    /** @param canRun whether this node can run the hook. Events of other hooks must not fill the limit. */
    async due(now: number, canRun: (hook: string) => boolean): Promise<StoredEvent[]> {
      const hooks: string[] = await knex('cron_events').distinct('hook').where('next_run', '<=', now).pluck('hook');
      return (
        await withState({})
          .where('next_run', '<=', now)
          .where('leased_until', '<', database.now())
          .whereIn('hook', hooks.filter(canRun))
          .limit(50)
      ).map(toEvent);
    },

    /** Brings recurring events that wait forward, one by one. @param earlier the earlier time of an event, or null to leave it */
    async bringForward(
      earlier: (event: StoredEvent & { readonly schedule: string }) => number | null,
    ): Promise<number> {
      let moved = 0;
      for (const event of (await withState({}).whereNotNull('schedule')).map(toEvent)) {
        const { id, schedule, nextRun, isRunning } = event;
        const next = isRunning || schedule === null ? null : earlier({ ...event, schedule });
        if (next === null) continue;
        moved += await knex('cron_events')
          .where({ id, next_run: nextRun })
          .whereNotExists(
            knex({ other: 'cron_events' })
              .select('other.id')
              .where({ 'other.hook': event.hook, 'other.args_key': argsKey(event.args), 'other.next_run': next }),
          )
          .update({ next_run: next });
      }
      return moved;
    },

    /** Earliest run of unclaimed events of hooks that this node can run. Poll it: leases of crashed nodes expire. */
    async earliest(canRun: (hook: string) => boolean): Promise<number | null> {
      const rows = await knex('cron_events')
        .where('leased_until', '<', database.now())
        .groupBy('hook')
        .select<{ hook: string; first: number }[]>('hook', knex.raw('MIN(next_run) AS first'));
      const times = rows.filter(({ hook }) => canRun(hook)).map(({ first }) => Number(first));
      return times.length === 0 ? null : Math.min(...times);
    },

    /** Returns null if another node claimed the event first, or the event was changed or removed. */
    async claim(event: StoredEvent): Promise<Claim | null> {
      const token = randomUUID();
      const claimed: { attempts: number }[] = await knex('cron_events')
        .where({ id: event.id, next_run: event.nextRun })
        .where('leased_until', '<', database.now())
        .update({ lease_token: token, leased_until: leaseEnd(), attempts: knex.raw('attempts + 1') })
        .returning('attempts');
      const [row] = claimed;
      return row === undefined ? null : { event, token, attempt: row.attempts };
    },

    async renew(claim: Claim): Promise<boolean> {
      return (await owned(claim).update({ leased_until: leaseEnd() })) === 1;
    },

    /** Ends a claim: moves the event to `nextRun`, or deletes it. Does nothing if another node holds the lease. */
    async release(claim: Claim, nextRun: number | null): Promise<void> {
      await database.transaction(async () => {
        const { hook, args } = claim.event;
        // An equal event may exist at that time: keep only one.
        const isDuplicate =
          nextRun !== null &&
          (await select({ hook, args }).where({ next_run: nextRun }).whereNot({ id: claim.event.id }).first('id')) !==
            undefined;
        if (nextRun === null || isDuplicate) await owned(claim).delete();
        else await owned(claim).update({ next_run: nextRun, lease_token: null, leased_until: 0, attempts: 0 });
      });
    },
  };
}

/** Equal arguments have equal keys; 1 and "1" are not equal. */
function argsKey(args: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(args)).digest('hex');
}

/** The history of runs. */
export function createCronHistory({ knex }: Database) {
  return {
    async record(run: CronRun): Promise<void> {
      await knex('cron_runs').insert({ id: randomUUID(), ...runRows.toRow(run) });
      const recent = knex('cron_runs')
        .where({ hook: run.hook })
        .orderBy('started_at', 'desc')
        .limit(maxRunsPerHook)
        .select('id');
      await knex('cron_runs')
        .where({ hook: run.hook })
        .whereNotIn('id', knex.select('id').from(recent.as('recent')))
        .delete();
    },

    async list({ hook, limit }: { hook?: string; limit: number }): Promise<CronRun[]> {
      const query = knex('cron_runs').orderBy('started_at', 'desc').limit(limit);
      if (hook !== undefined) void query.where({ hook });
      return runRows.all(query);
    },
  };
}

export type CronHistory = ReturnType<typeof createCronHistory>;
export type CronStore = ReturnType<typeof createCronStore>;

function toEvent(row: EventRow): StoredEvent {
  return {
    id: row.id,
    hook: row.hook,
    args: JSON.parse(row.args) as unknown[],
    schedule: row.schedule,
    owner: row.owner,
    nextRun: row.next_run,
    isRunning: Boolean(row.is_running),
  };
}
