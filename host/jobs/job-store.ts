import { withoutUndefined } from '#plugin-api';
import type { JobState, JobStatus, JsonValue } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { createAttemptStore, keepFailed, leaseDuration } from './attempt-store.ts';
import { jobsTable } from './migrations.ts';

/** A job held by an attempt of this process. */
export interface ClaimedJob {
  readonly id: number;
  readonly key: string | null;
  /** Those of the last checkpoint. */
  args: JsonValue;
  /** 1 for the first. */
  readonly attempt: number;
  readonly token: number;
}

export type Held = Pick<ClaimedJob, 'id' | 'token'>;

export interface NewJob {
  readonly owner: string;
  readonly name: string;
  readonly key: string | null;
  /** JSON. */
  readonly args: string;
  readonly priority: number;
  /** Milliseconds since the epoch, or from now by the database's clock. */
  readonly due: { readonly at: number } | { readonly in: number };
  readonly replace: boolean;
}

export interface CompletedJob extends Held {
  /** JSON, or null. */
  readonly result: string | null;
  /** Milliseconds; null: deleted at once. */
  readonly keep: number | null;
}

export interface Kind {
  readonly owner: string;
  readonly name: string;
}

export interface JobSelection {
  readonly id?: number | undefined;
  readonly owner?: string | undefined;
  readonly name?: string | undefined;
  readonly key?: string | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly state?: JobState | undefined;
}

export interface CancelledJob extends Kind {
  readonly id: number;
  readonly key: string | null;
  readonly args: JsonValue;
  readonly attempts: number;
}

export interface JobCount extends Kind {
  readonly state: JobState;
  readonly count: number;
}

interface JobRow {
  readonly id: number | string;
  readonly owner: string;
  readonly name: string;
  readonly job_key: string | null;
  readonly args: string;
  readonly state: JobState;
  readonly priority: number;
  readonly due_at: number | string | null;
  readonly attempts: number;
  readonly progress_done: number | string | null;
  readonly progress_total: number | string | null;
  readonly progress_message: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly created_at: number | string;
  readonly started_at: number | string | null;
  readonly finished_at: number | string | null;
}

/** Rows or keys of one statement. SQLite allows 32,766 values in a statement. */
const insertBatch = 500;
/** Rows that one statement of the sweep deletes. */
const sweepBatch = 2_000;

export type JobStore = ReturnType<typeof createJobStore>;

/** The SQL of the jobs. Every lease uses the database's clock, so nodes with different clocks agree. */
export function createJobStore(database: Database) {
  return { ...createQueueSide(database), ...createAttemptStore(database) };
}

/** Adds, lists, cancels and deletes jobs. */
function createQueueSide(database: Database) {
  const { knex } = database;
  const jobs = () => knex<JobRow>(jobsTable);
  const now = () => database.now() as unknown as number;
  const after = (milliseconds: number) => knex.raw('? + ?', [database.now(), milliseconds]) as unknown as number;

  function select({ id, owner, name, key, keys, state }: JobSelection) {
    const query = jobs().where(withoutUndefined({ id, owner, name, job_key: key, state }));
    return keys === undefined ? query : query.whereIn('job_key', keys);
  }

  /** Inserts the jobs whose key no other open job has. */
  async function insert(
    added: readonly NewJob[],
    changes: object = {},
  ): Promise<{ readonly id: number; readonly key: string | null }[]> {
    const rows = added.map(({ owner, name, key, args, priority, due }) => ({
      ...{ owner, name, job_key: key, args, state: 'waiting', priority, created_at: now(), due_at: dueAt(due) },
      ...changes,
    }));
    const query = knex(jobsTable).insert(rows);
    if (added.some(({ key }) => key !== null))
      void query
        .onConflict(knex.raw('(owner, name, job_key) WHERE due_at IS NOT NULL AND job_key IS NOT NULL') as never)
        .ignore();
    const inserted = (await query.returning(['id', 'job_key'])) as {
      readonly id: number | string;
      readonly job_key: string | null;
    }[];
    return inserted.map(({ id, job_key: key }) => ({ id: Number(id), key }));
  }
  const dueAt = (due: NewJob['due']): number => ('at' in due ? Math.round(due.at) : after(Math.round(due.in)));

  /** Changes the job under the key: a running one runs again with the new arguments, a waiting one may be replaced. */
  async function merge({ owner, name, key, args, priority, due, replace }: NewJob): Promise<number | null> {
    const open = select({ owner, name, key: key ?? '' }).whereNotNull('due_at');
    const whenWaiting = (column: string, value: unknown) =>
      replace
        ? knex.raw(`case when state = 'waiting' then ? else ?? end`, [value as never, column])
        : knex.raw('??', [column]);
    const [row] = (await open
      .update({
        next_args: knex.raw(`case when state = 'running' then ? end`, [args]),
        args: whenWaiting('args', args),
        priority: whenWaiting('priority', knex.raw('cast(? as integer)', [priority])),
        due_at: whenWaiting('due_at', knex.raw('cast(? as bigint)', [dueAt(due)])),
        attempts: whenWaiting('attempts', 0),
        error: whenWaiting('error', null),
      } as never)
      .returning('id')) as { readonly id: number | string }[];
    return row === undefined ? null : Number(row.id);
  }

  async function add(job: NewJob): Promise<{ readonly id: number; readonly isNew: boolean }> {
    for (;;) {
      const [inserted] = await insert([job]);
      if (inserted !== undefined) return { id: inserted.id, isNew: true };
      const merged = await merge(job);
      if (merged !== null) return { id: merged, isNew: false };
      // The job with the key finished between the two statements.
    }
  }

  async function cancelChosen(selection: JobSelection): Promise<CancelledJob[]> {
    const rows = (await select(selection)
      .whereNotNull('due_at')
      .update({ ...finished(database, keepFailed), state: 'cancelled', token: knex.raw('token + 1') } as never)
      .returning(['id', 'owner', 'name', 'job_key', 'args', 'attempts'])) as unknown as JobRow[];
    return rows.map(({ id, owner, name, job_key: key, args, attempts }) => ({
      ...{ id: Number(id), owner, name, key, args: JSON.parse(args) as JsonValue, attempts },
    }));
  }

  return {
    add,
    /** Jobs of one kind. Returns the number of new ones. */
    async addMany(added: readonly NewJob[]): Promise<number> {
      let count = 0;
      for (let at = 0; at < added.length; at += insertBatch) {
        const batch = added.slice(at, at + insertBatch);
        const inserted = await insert(batch);
        count += inserted.length;
        if (inserted.length === batch.length) continue;
        const isNew = new Set(inserted.map(({ key }) => key));
        const others = batch.filter(({ key }) => key !== null && !isNew.has(key));
        const [first] = others;
        if (first === undefined) continue;
        const waiting = select({ owner: first.owner, name: first.name, state: 'waiting' });
        const keys = others.map(({ key }) => key as string);
        const unchanged = new Set((await waiting.whereIn('job_key', keys).pluck('job_key')) as string[]);
        for (const job of others)
          if (job.replace || !unchanged.has(job.key as string)) count += (await add(job)).isNew ? 1 : 0;
      }
      return count;
    },

    /** Adds a job that this process holds. Null: one under the key waits or runs. */
    async start(job: NewJob): Promise<ClaimedJob | null> {
      const held = { state: 'running', token: 1, attempts: 1, started_at: now() };
      const [inserted] = await insert([{ ...job, due: { in: leaseDuration } }], held);
      return inserted === undefined
        ? null
        : { ...inserted, args: JSON.parse(job.args) as JsonValue, attempt: 1, token: 1 };
    },

    /** The job that waits or runs under the key; `orphan` if its lease has ended. */
    async findOpen(
      key: Pick<NewJob, 'owner' | 'name' | 'key'>,
    ): Promise<{ readonly status: JobStatus; readonly orphan: ClaimedJob | null } | null> {
      const query = select({ ...key, key: key.key ?? '' })
        .whereNotNull('due_at')
        .first('*', knex.raw(`(state = 'running' and due_at <= ?) as is_orphan`, [database.now()]));
      const row = (await (database.dialect === 'postgresql' ? query.forUpdate() : query)) as
        (JobRow & { readonly is_orphan: boolean | number; readonly token: number | string }) | undefined;
      if (row === undefined) return null;
      const status = toStatus(row);
      const { id, key: jobKey, args } = status;
      const orphan = { id, key: jobKey, args, attempt: row.attempts + 1, token: Number(row.token) };
      return { status, orphan: row.is_orphan ? orphan : null };
    },

    /** Returns the number of attempts that are asked to end early. */
    requestStop: async (selection: JobSelection): Promise<number> =>
      select({ ...selection, state: 'running' }).update({ stopped_token: knex.ref('token') } as never),

    async list(selection: JobSelection, limit: number): Promise<JobStatus[]> {
      return (await select(selection).orderBy('id', 'desc').limit(limit)).map(toStatus);
    },

    /** The new token ends the attempt in progress. */
    async cancel({ keys, ...selection }: JobSelection): Promise<CancelledJob[]> {
      if (keys === undefined) return cancelChosen(selection);
      const cancelled: CancelledJob[] = [];
      for (let at = 0; at < keys.length; at += insertBatch)
        cancelled.push(...(await cancelChosen({ ...selection, keys: keys.slice(at, at + insertBatch) })));
      return cancelled;
    },

    remove: async (id: number): Promise<void> => {
      await jobs().where({ id }).delete();
    },

    /** False if the job is neither failed nor cancelled, or another one has taken its key. */
    async retry(selection: JobSelection): Promise<boolean> {
      try {
        const changes = { state: 'waiting', attempts: 0, due_at: now(), finished_at: null, keep_until: null } as never;
        return (await select(selection).whereIn('state', ['failed', 'cancelled']).update(changes)) > 0;
      } catch (error) {
        if (database.isUniqueViolation(error)) return false;
        throw error;
      }
    },

    async counts(): Promise<JobCount[]> {
      const rows = (await knex(jobsTable)
        .groupBy('owner', 'name', 'state')
        .orderBy(['owner', 'name'])
        .select('owner', 'name', 'state', knex.raw('count(*) as count'))) as (Kind & {
        readonly state: JobState;
        readonly count: number | string;
      })[];
      return rows.map((row) => ({ ...row, count: Number(row.count) }));
    },

    /** Finished jobs since a time, by state and hour. Milliseconds since the epoch. */
    async finishedByHour(
      since: number,
      selection: JobSelection = {},
    ): Promise<{ hour: number; state: JobState; count: number }[]> {
      const rows = (await select(selection)
        .where('finished_at', '>=', since)
        .groupByRaw('finished_at / 3600000, state')
        .select(knex.raw('finished_at / 3600000 as hour'), 'state', knex.raw('count(*) as count'))) as unknown as {
        readonly hour: number | string;
        readonly state: JobState;
        readonly count: number | string;
      }[];
      return rows.map(({ hour: at, state, count }) => ({ hour: Number(at) * 3_600_000, state, count: Number(count) }));
    },

    /** Deletes jobs that were kept long enough, in batches. Returns their number. */
    async sweep(): Promise<number> {
      let deleted = 0;
      for (;;) {
        const expired = jobs().select('id').where('keep_until', '<=', now()).limit(sweepBatch);
        const count: number = await knex(jobsTable).whereIn('id', expired).delete();
        deleted += count;
        if (count < sweepBatch) return deleted;
      }
    },

    /** Deletes everything of a plugin. Returns the number of jobs. */
    removeOwner: async (owner: string): Promise<number> => jobs().where({ owner }).delete(),
  };
}

/** Columns of a job that is over. */
function finished({ knex, now }: Pick<Database, 'knex' | 'now'>, keep: number): Record<string, unknown> {
  return { due_at: null, next_args: null, finished_at: now(), keep_until: knex.raw('? + ?', [now(), keep]) };
}

function toStatus(row: JobRow): JobStatus {
  const numberOrNull = (value: number | string | null): number | null => (value === null ? null : Number(value));
  return {
    id: Number(row.id),
    owner: row.owner,
    name: row.name,
    key: row.job_key,
    args: JSON.parse(row.args) as JsonValue,
    state: row.state,
    priority: row.priority,
    attempts: row.attempts,
    dueAt: row.state === 'waiting' ? numberOrNull(row.due_at) : null,
    progress:
      row.progress_done === null
        ? null
        : {
            done: Number(row.progress_done),
            total: Number(row.progress_total ?? 0),
            message: row.progress_message ?? '',
          },
    result: row.result === null ? null : (JSON.parse(row.result) as JsonValue),
    error: row.error,
    createdAt: Number(row.created_at),
    startedAt: numberOrNull(row.started_at),
    finishedAt: numberOrNull(row.finished_at),
  };
}
