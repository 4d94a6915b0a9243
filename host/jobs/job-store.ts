import type { JobState, JobStatus, JsonValue, Knex } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { jobsTable } from './migrations.ts';

/** Time without a heartbeat after which another node may claim a job, in milliseconds. */
export const leaseDuration = 30_000;

/** A job held by an attempt of this process. */
export interface ClaimedJob {
  readonly id: number;
  readonly key: string | null;
  readonly args: JsonValue;
  /** 1 for the first. */
  readonly attempt: number;
  readonly token: number;
}

type Held = Pick<ClaimedJob, 'id' | 'token'>;

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
  /** Milliseconds. */
  readonly keep: number;
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

/** Failed and cancelled jobs are kept this long, in milliseconds. */
const keepFailed = 30 * 86_400_000;
/** Rows of one insertion. SQLite allows 32,766 values in a statement. */
const insertBatch = 500;
/** Rows that one statement of the sweep deletes. */
const sweepBatch = 2_000;

export type JobStore = ReturnType<typeof createJobStore>;

/** The SQL of the jobs. Every lease uses the database's clock, so nodes with different clocks agree. */
export function createJobStore(database: Database) {
  return { ...createQueueSide(database), ...createWorkerSide(database) };
}

/** Adds, lists, cancels and deletes jobs. */
function createQueueSide(database: Database) {
  const { knex } = database;
  const jobs = () => knex<JobRow>(jobsTable);
  const now = () => database.now() as unknown as number;
  const after = (milliseconds: number) => knex.raw('? + ?', [database.now(), milliseconds]) as unknown as number;

  function select({ id, owner, name, key, keys, state }: JobSelection) {
    const given = Object.entries({ id, owner, name, job_key: key, state }).filter(([, value]) => value !== undefined);
    const query = jobs().where(Object.fromEntries(given));
    return keys === undefined ? query : query.whereIn('job_key', keys);
  }

  /** Inserts the jobs whose key no other open job has. */
  async function insert(added: readonly NewJob[]): Promise<{ readonly id: number; readonly key: string | null }[]> {
    const rows = added.map(({ owner, name, key, args, priority, due }) => ({
      ...{ owner, name, job_key: key, args, state: 'waiting', priority, created_at: now(), due_at: dueAt(due) },
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

    async list(selection: JobSelection, limit: number): Promise<JobStatus[]> {
      return (await select(selection).orderBy('id', 'desc').limit(limit)).map(toStatus);
    },

    /** The new token ends the attempt in progress. */
    async cancel(selection: JobSelection): Promise<CancelledJob[]> {
      const rows = (await select(selection)
        .whereNotNull('due_at')
        .update({ ...finished(database, keepFailed), state: 'cancelled', token: knex.raw('token + 1') } as never)
        .returning(['id', 'owner', 'name', 'job_key', 'args', 'attempts'])) as unknown as JobRow[];
      return rows.map(({ id, owner, name, job_key: key, args, attempts }) => ({
        ...{ id: Number(id), owner, name, key, args: JSON.parse(args) as JsonValue, attempts },
      }));
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
    async finishedByHour(since: number): Promise<{ hour: number; state: JobState; count: number }[]> {
      const rows = (await knex(jobsTable)
        .where('finished_at', '>=', since)
        .groupByRaw('finished_at / 3600000, state')
        .select(knex.raw('finished_at / 3600000 as hour'), 'state', knex.raw('count(*) as count'))) as {
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

/** Claims jobs and writes what becomes of them. */
function createWorkerSide(database: Database) {
  const { knex } = database;
  const later = (milliseconds: number) => knex.raw('? + ?', [database.now(), milliseconds]) as unknown as number;
  const held = ({ id, token }: Held) => knex(jobsTable).where({ id, token, state: 'running' });
  const statements = createStatements(database);

  return {
    /** Milliseconds until the next job of each kind is due, or its next lease ends; null: there is none. */
    async nextDue(kinds: readonly Kind[]): Promise<(number | null)[]> {
      const waits: (number | null)[] = [];
      await database.direct<void>(
        {
          sqlite: (connection) => {
            for (const { owner, name } of kinds)
              waits.push(waitOf(connection.rows(statements.nextDue, owner, name)[0]?.[0]));
          },
          postgresql: async (connection) => {
            const owners = kinds.map(({ owner }) => owner);
            const names = kinds.map(({ name }) => name);
            const { rows } = await connection.rows(statements.nextDueOfAll, [owners, names]);
            waits.push(...rows.map(([wait]) => waitOf(wait)));
          },
        },
        { readOnly: true },
      );
      return waits;
    },

    /** Claims due jobs of a kind in their order; expired leases too. */
    async claim({ owner, name }: Kind, limit: number): Promise<ClaimedJob[]> {
      const rows = await database.direct<readonly (readonly unknown[])[]>({
        sqlite: (connection) => connection.rows(statements.claim, leaseDuration, owner, name, limit),
        postgresql: async (connection) =>
          (await connection.rows(statements.claim, [leaseDuration, owner, name, limit])).rows,
      });
      return [...rows]
        .sort((one, other) => Number(one[5]) - Number(other[5]) || Number(one[0]) - Number(other[0]))
        .map(([id, key, args, attempt, token]) => ({
          id: Number(id),
          key: key as string | null,
          args: JSON.parse(args as string) as JsonValue,
          attempt: Number(attempt),
          token: Number(token),
        }));
    },

    /** Completes jobs in one statement or transaction. Returns the ids of those that were still held. */
    async complete(completed: readonly CompletedJob[], transaction?: Knex.Transaction): Promise<ReadonlySet<number>> {
      const rows = await database.direct<readonly (readonly unknown[])[]>(
        {
          sqlite: (connection) =>
            completed.flatMap(({ id, token, result, keep }) =>
              connection.rows(statements.complete, result, keep, id, token),
            ),
          postgresql: async (connection) => {
            const columns: unknown[][] = [[], [], [], []];
            for (const { id, token, result, keep } of completed)
              [id, token, result, keep].forEach((value, index) => columns[index]?.push(value));
            return (await connection.rows(statements.complete, columns)).rows;
          },
        },
        { ...(transaction && { transaction }) },
      );
      return new Set(rows.map(([id]) => Number(id)));
    },

    /** Renews the leases. Returns the ids of the jobs that are still held. */
    async renew(jobs: readonly Held[]): Promise<ReadonlySet<number>> {
      const rows = (await knex(jobsTable)
        .whereIn(
          'id',
          jobs.map(({ id }) => id),
        )
        .where({ state: 'running' })
        .update({ due_at: later(leaseDuration) })
        .returning(['id', 'token'])) as { readonly id: number | string; readonly token: number | string }[];
      const tokens = new Map(rows.map(({ id, token }) => [Number(id), Number(token)]));
      return new Set(jobs.filter(({ id, token }) => tokens.get(id) === token).map(({ id }) => id));
    },

    /** Makes the job due again later. @param wait milliseconds */
    postpone: async (job: Held, wait: number, error: string): Promise<boolean> =>
      (await held(job).update({ state: 'waiting', due_at: later(wait), error })) > 0,

    /** Returns the job to the queue without counting the attempt. */
    release: async (job: Held): Promise<boolean> =>
      (await held(job).update({ state: 'waiting', due_at: database.now(), attempts: knex.raw('attempts - 1') })) > 0,

    /**
     * Fails the job for good, unless it was added again meanwhile. Returns its state, or null if it is no longer held.
     * @param uncounted attempts that did not begin
     */
    async fail(job: Held, error: string, uncounted = 0): Promise<'failed' | 'waiting' | null> {
      const attempts = knex.raw('case when next_args is null then attempts - ? else 0 end', [uncounted]);
      const [row] = (await held(job)
        .update({ ...ended(database, { state: 'failed', keep: keepFailed }), error, attempts })
        .returning('state')) as { readonly state: 'failed' | 'waiting' }[];
      return row?.state ?? null;
    },

    async progress(job: Held, { done, total, message }: NonNullable<JobStatus['progress']>): Promise<void> {
      await held(job).update({ progress_done: done, progress_total: total, progress_message: message });
    },

    setResult: async (id: number, result: string | null): Promise<void> => {
      await knex(jobsTable).where({ id }).update({ result });
    },
  };
}

/** Columns of a job that is over. */
function finished({ knex, now }: Pick<Database, 'knex' | 'now'>, keep: number): Record<string, unknown> {
  return { due_at: null, next_args: null, finished_at: now(), keep_until: knex.raw('? + ?', [now(), keep]) };
}

/** Columns of a job that is over, or waits again if it was added while it ran. */
function ended(
  { knex, now }: Pick<Database, 'knex' | 'now'>,
  { state, keep }: { readonly state: JobState; readonly keep: number },
): Record<string, unknown> {
  return {
    state: knex.raw(`case when next_args is null then ? else 'waiting' end`, [state]),
    args: knex.raw('coalesce(next_args, args)'),
    next_args: null,
    due_at: knex.raw('case when next_args is null then null else ? end', [now()]),
    finished_at: knex.raw('case when next_args is null then ? end', [now()]),
    keep_until: knex.raw('case when next_args is null then ? + ? end', [now(), keep]),
  };
}

/** The statements that run for every job, in the SQL of the dialect. */
function createStatements(database: Database) {
  const isPostgresql = database.dialect === 'postgresql';
  const now = database.now().toQuery();
  const numbered = (sql: string): string => {
    let count = 0;
    return isPostgresql ? sql.replaceAll('?', () => `$${String((count += 1))}`) : sql;
  };
  const claim = `UPDATE jobs SET state = 'running', due_at = ${now} + ${isPostgresql ? '?::bigint' : '?'}, token = token + 1,
      attempts = attempts + 1, started_at = ${now}, progress_done = NULL, progress_total = NULL, progress_message = NULL
    WHERE id IN (SELECT id FROM jobs WHERE owner = ? AND name = ? AND due_at <= ${now}
      ORDER BY priority, due_at, id LIMIT ?${isPostgresql ? ' FOR UPDATE SKIP LOCKED' : ''})
    RETURNING id, job_key, args, attempts, token, priority`;
  const completion = (result: string, keep: string): string => `UPDATE jobs SET
      state = CASE WHEN next_args IS NULL THEN 'completed' ELSE 'waiting' END,
      args = coalesce(next_args, args), next_args = NULL, result = ${result}, error = NULL,
      attempts = CASE WHEN next_args IS NULL THEN attempts ELSE 0 END,
      due_at = CASE WHEN next_args IS NULL THEN NULL ELSE ${now} END,
      finished_at = CASE WHEN next_args IS NULL THEN ${now} END,
      keep_until = CASE WHEN next_args IS NULL THEN ${now} + ${keep} END`;
  return {
    claim: numbered(claim),
    complete: isPostgresql
      ? `${completion('done.result', 'done.keep')}
          FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[]) AS done(id, token, result, keep)
          WHERE jobs.id = done.id AND jobs.token = done.token AND jobs.state = 'running' RETURNING jobs.id`
      : `${completion('?', '?')} WHERE id = ? AND token = ? AND state = 'running' RETURNING id`,
    nextDue: `SELECT min(due_at) - ${now} FROM jobs WHERE owner = ? AND name = ? AND due_at IS NOT NULL`,
    nextDueOfAll: `SELECT (SELECT min(due_at) - ${now} FROM jobs
        WHERE owner = kind.owner AND name = kind.name AND due_at IS NOT NULL)
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS kind(owner, name, position) ORDER BY kind.position`,
  };
}

function waitOf(value: unknown): number | null {
  return value === null || value === undefined ? null : Math.max(0, Number(value));
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
