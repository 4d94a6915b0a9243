import type { JobState, JobStatus, JsonValue, Knex } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import type { ClaimedJob, CompletedJob, Held, Kind } from './job-store.ts';
import { jobsTable } from './migrations.ts';

/** Time without a heartbeat after which another node may claim a job, in milliseconds. */
export const leaseDuration = 30_000;
/** Milliseconds by which clocks may differ. */
const clockTolerance = 5_000;
/** Failed and cancelled jobs are kept this long, in milliseconds. */
export const keepFailed = 30 * 86_400_000;

/** Claims jobs and writes what becomes of them. */
export function createAttemptStore(database: Database) {
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

    /**
     * For times of a clock that has been set back since: no job waits for longer than it was to, and no lease is longer than
     * one is. Jobs whose times are not in the future stay as they are, so it may run on any number of nodes.
     */
    async repairTimes(): Promise<number> {
      const [now, most] = [database.now().toQuery(), database.dialect === 'postgresql' ? 'greatest' : 'max'];
      const written = `${most}(created_at, coalesce(started_at, 0))`;
      return knex(jobsTable)
        .whereNotNull('due_at')
        .whereRaw(`${written} > ${now} + ?`, [clockTolerance])
        .update({
          due_at: knex.raw(
            `case when state = 'running' then ${now} + ? else ${now} + ${most}(0, due_at - ${written}) end`,
            [leaseDuration],
          ),
          created_at: knex.raw(`case when created_at > ${now} then ${now} else created_at end`),
          started_at: knex.raw(`case when started_at > ${now} then ${now} else started_at end`),
        });
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
    async complete(ended: readonly CompletedJob[], transaction?: Knex.Transaction): Promise<ReadonlySet<number>> {
      const deleted = new Set<number>();
      for (const job of ended) if (job.keep === null && (await held(job).delete()) > 0) deleted.add(job.id);
      const completed = ended.filter(({ keep }) => keep !== null);
      if (completed.length === 0) return deleted;
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
      return new Set([...deleted, ...rows.map(([id]) => Number(id))]);
    },

    /** Renews the leases. Returns the jobs that are still held, by id. */
    async renew(jobs: readonly Held[]): Promise<ReadonlyMap<number, { readonly isStopRequested: boolean }>> {
      const rows = (await knex(jobsTable)
        .whereIn(
          'id',
          jobs.map(({ id }) => id),
        )
        .where({ state: 'running' })
        .update({ due_at: later(leaseDuration) })
        .returning(['id', 'token', 'stopped_token'])) as Record<string, number | string | null>[];
      const tokens = new Map(jobs.map(({ id, token }) => [id, token]));
      const mine = rows.filter(({ id, token }) => tokens.get(Number(id)) === Number(token));
      return new Map(
        mine.map((row) => [
          Number(row['id']),
          { isStopRequested: Number(row['stopped_token']) === Number(row['token']) },
        ]),
      );
    },

    /** Makes the job due again later. @param wait milliseconds */
    postpone: async (job: Held, wait: number, error: string): Promise<boolean> =>
      (await held(job).update({ state: 'waiting', due_at: later(wait), error })) > 0,

    /** Returns the job to the queue without counting the attempt. */
    release: async (job: Held): Promise<boolean> =>
      (await held(job).update({ state: 'waiting', due_at: database.now(), attempts: knex.raw('attempts - 1') })) > 0,

    /**
     * Fails the job for good, unless it was added again meanwhile. Returns its state, or null if it is no longer held.
     * @param how `uncounted`: attempts that did not begin. `isDeleted`: deletes the job
     */
    async fail(
      job: Held,
      error: string,
      { uncounted, isDeleted }: { readonly uncounted: number; readonly isDeleted: boolean },
    ): Promise<'failed' | 'waiting' | null> {
      if (isDeleted) return (await held(job).delete()) > 0 ? 'failed' : null;
      const attempts = knex.raw('case when next_args is null then attempts - ? else 0 end', [uncounted]);
      const [row] = (await held(job)
        .update({ ...ended(database, { state: 'failed', keep: keepFailed }), error, attempts })
        .returning('state')) as { readonly state: 'failed' | 'waiting' }[];
      return row?.state ?? null;
    },

    async progress(job: Held, { done, total, message }: NonNullable<JobStatus['progress']>): Promise<void> {
      await held(job).update({ progress_done: done, progress_total: total, progress_message: message });
    },

    /** Returns whether the job was still held. */
    setArgs: async (job: Held, args: string): Promise<boolean> => (await held(job).update({ args })) > 0,

    setResult: async (id: number, result: string | null): Promise<void> => {
      await knex(jobsTable).where({ id }).update({ result });
    },
  };
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
