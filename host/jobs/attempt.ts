import {
  currentRequest,
  inRequest,
  JobLostError,
  type Clock,
  type HooksApi,
  type JsonValue,
  type Knex,
  type Logger,
  type RunningJob,
} from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { logJobFailure, toJobFailure } from './job-errors.ts';
import { argsToJson, type JobKind } from './job-kinds.ts';
import type { ClaimedJob, JobStore } from './job-store.ts';
import type { Outcomes } from './outcomes.ts';
import { createProgress, type Progress } from './progress.ts';

/** Why an attempt is aborted: shutdown or deactivation, a lease that is lost, the time limit. */
export type AbortReason = 'stop' | 'lost' | 'timeout';

export interface AttemptDependencies {
  readonly database: Pick<Database, 'transaction'>;
  readonly store: JobStore;
  readonly outcomes: Outcomes;
  readonly hooks: Pick<HooksApi, 'doActionAsync' | 'hasAction'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 up to 1. */
  readonly random: () => number;
  /** Runs work under its name. */
  readonly track: (name: string, work: () => unknown) => unknown;
}

/** What an attempt came to, for the metrics. `lost`: another node decides. */
export type AttemptOutcome = 'completed' | 'failed' | 'retried' | 'released' | 'lost';

interface Attempt {
  readonly kind: JobKind;
  readonly job: ClaimedJob;
  readonly controller: AbortController;
  readonly stopRequested: AbortSignal;
  /** Instead of the function of the kind: the work of a job that this process has started. */
  readonly work?: JobKind['run'] | undefined;
}

/** Most characters of a result as JSON. */
const longestResult = 65_536;

/** Fails a job whose process ended during its last attempt. */
export function failOrphan(
  dependencies: AttemptDependencies,
  attempt: Pick<Attempt, 'kind' | 'job'>,
): Promise<AttemptOutcome> {
  return failForGood(dependencies, attempt, { message: endedTooOften(attempt.job), uncounted: 1 });
}

/** Runs one attempt at a job and stores what comes of it. Never rejects. */
export function createAttempt(dependencies: AttemptDependencies): (attempt: Attempt) => Promise<AttemptOutcome> {
  const { outcomes, log } = dependencies;

  return async (attempt) => {
    const { kind, job, controller } = attempt;
    try {
      if (job.attempt > (await kind.attempts(job.args))) return await failOrphan(dependencies, attempt);
      const result = await run(dependencies, attempt);
      if (result.isStored) return 'completed';
      const completed = { id: job.id, token: job.token, result: result.json, keep: kind.keep };
      return (await outcomes.write(() => outcomes.complete(completed), controller.signal)) ? 'completed' : 'lost';
    } catch (error) {
      try {
        return await storeError(dependencies, attempt, error);
      } catch (thrown) {
        // The lease ends, and the job is claimed again.
        log.error('Failed to store the result of a job', {
          event: 'job_result_lost',
          ...nameOf(attempt),
          error: thrown,
        });
        return 'lost';
      }
    }
  };
}

function endedTooOften({ attempt }: ClaimedJob): string {
  const times = attempt === 2 ? 'once' : `${String(attempt - 1)} times`;
  return `The process ended ${times} during this job; it will not be retried.`;
}

const nameOf = ({ kind, job }: Pick<Attempt, 'kind' | 'job'>): Record<string, unknown> => ({
  job: job.id,
  owner: kind.owner,
  name: kind.name,
  attempt: job.attempt,
});

interface RunResult {
  readonly json: string | null;
  /** Whether `commit` has completed the job. */
  readonly isStored: boolean;
}

/** Runs the function until it ends, its time is over or its signal is aborted. */
async function run(dependencies: AttemptDependencies, attempt: Attempt): Promise<RunResult> {
  const { clock, log, track, store } = dependencies;
  const { kind, job, controller, stopRequested, work: run = kind.run } = attempt;
  const { signal } = controller;
  if (run === null)
    throw Object.assign(new Error('Only the process that started the job can do its work.'), { retryable: false });
  const cancelLimit = clock.after(kind.timeout, () => {
    controller.abort('timeout' satisfies AbortReason);
  });
  const progress = createProgress({ store, clock, log }, job);
  const commit = createCommit(dependencies, attempt, progress);
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(String(signal.reason))), { once: true });
  });
  aborted.catch(() => undefined);
  const running = {
    id: job.id,
    key: job.key,
    attempt: job.attempt,
    token: job.token,
    signal,
    stopRequested,
    checkpoint: createCheckpoint(dependencies, attempt),
    progress: progress.report,
    commit: commit.run,
  };
  // Only a job that its request started belongs to it: the worker claims others whenever it wakes.
  const requestId = attempt.work === undefined ? '' : (currentRequest()?.requestId ?? '');
  try {
    const work = Promise.resolve(
      inRequest({ door: 'job', requestId }, () => track(`job ${kind.name}`, () => run(job.args, running))),
    );
    const value = (await Promise.race([work, aborted])) as JsonValue | undefined;
    return { json: toJson(value), isStored: commit.isDone() };
  } catch (error) {
    // An error after the commit cannot undo it.
    if (commit.isDone()) {
      log.warn('A job failed after it was completed', {
        event: 'job_failed_late',
        job: job.id,
        name: kind.name,
        error,
      });
      return { json: null, isStored: true };
    }
    throw error;
  } finally {
    cancelLimit();
    await progress.stop();
  }
}

function createCheckpoint(
  { database, store }: AttemptDependencies,
  { kind, job, controller: { signal } }: Attempt,
): RunningJob['checkpoint'] {
  return async (work) => {
    if (signal.aborted) throw new JobLostError();
    const args = await database.transaction(async (transaction) => {
      // First, so that the row is locked while the work runs.
      if (!(await store.setArgs(job, argsToJson(kind.name, job.args)))) throw new JobLostError();
      const next = await work(transaction);
      await store.setArgs(job, argsToJson(kind.name, next));
      return next;
    });
    job.args = args;
    return args;
  };
}

function createCommit(
  { database, store, outcomes }: AttemptDependencies,
  { kind, job, controller: { signal } }: Attempt,
  progress: Pick<Progress, 'flush'>,
) {
  let isDone = false;
  return {
    isDone: () => isDone,
    async run<Result extends JsonValue | void>(
      work: (transaction: Knex.Transaction) => Promise<Result>,
    ): Promise<Result> {
      if (isDone) throw new Error('The job is completed already: commit runs once per attempt.');
      if (signal.aborted) throw new JobLostError();
      // A job that is completed is not held any more.
      await progress.flush();
      const complete = (): Promise<Result> =>
        database.transaction(async (transaction) => {
          const completed = { id: job.id, token: job.token, result: null, keep: kind.keep };
          if (!(await store.complete([completed], transaction)).has(job.id)) throw new JobLostError();
          const result = await work(transaction);
          const json = toJson(result as JsonValue | undefined);
          if (json !== null) await store.setResult(job.id, json);
          return result;
        });
      // What the attempt has made may have cost money: an outage does not discard it while the job is held.
      const value = await outcomes.write(complete, signal);
      isDone = true;
      return value;
    },
  };
}

function toJson(value: JsonValue | undefined): string | null {
  if (value === undefined) return null;
  const json = JSON.stringify(value);
  if (json.length <= longestResult) return json;
  throw Object.assign(
    new Error(`The job's result has ${String(json.length)} characters of JSON; at most 65,536 are kept.`),
    {
      retryable: false,
    },
  );
}

async function storeError(
  dependencies: AttemptDependencies,
  attempt: Attempt,
  error: unknown,
): Promise<AttemptOutcome> {
  const { outcomes, log, random } = dependencies;
  const { kind, job, controller } = attempt;
  const { signal } = controller;
  if (error instanceof JobLostError || signal.reason === 'lost') return 'lost';
  if (signal.reason === 'stop' && kind.run === null)
    return failForGood(dependencies, attempt, { message: 'The process stopped during the job.' });
  if (signal.reason === 'stop') return (await postpone(dependencies, attempt, null)) ? 'released' : 'lost';
  const isLate = signal.reason === 'timeout';
  const failure = isLate ? lateFailure(kind) : toJobFailure(error);
  const writing = isLate ? new AbortController().signal : signal;
  const [attempts, backoff] = await outcomes.write(
    () => Promise.all([kind.attempts(job.args), kind.backoff(job.args)]),
    writing,
  );
  if (!failure.isRetryable || job.attempt >= attempts)
    return outcomes.write(() => failForGood(dependencies, attempt, { message: failure.message, error }), writing);
  const seconds = backoff[Math.min(job.attempt, backoff.length) - 1] ?? 0;
  const wait = Math.round(Math.max(failure.wait, seconds * 1000 * (0.5 + random() / 2)));
  const limit = Number.isFinite(attempts) ? ` of ${String(attempts)}` : '';
  const text = `Attempt ${String(job.attempt)}${limit} failed: ${failure.message}`;
  const isHeld = await outcomes.write(
    () => postpone(dependencies, attempt, { wait, text, message: failure.message }),
    writing,
  );
  log.warn('Job attempt failed', {
    event: 'job_attempt_failed',
    ...nameOf(attempt),
    wait_ms: wait,
    reason: failure.message,
  });
  return isHeld ? 'retried' : 'lost';
}

/** Returns the job to the queue: after a failure, or uncounted at shutdown. Returns whether it was still held. */
async function postpone(
  { database, store }: AttemptDependencies,
  { kind, job }: Attempt,
  failure: { readonly wait: number; readonly text: string; readonly message: string } | null,
): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const isHeld = await (failure === null ? store.release(job) : store.postpone(job, failure.wait, failure.text));
    const { message, wait } = failure ?? { message: null, wait: 0 };
    const postponed = { id: job.id, key: job.key, attempts: job.attempt - (failure ? 0 : 1), message, wait };
    if (isHeld) await kind.postponed(job.args, postponed, transaction);
    return isHeld;
  });
}

const lateFailure = ({ timeout }: JobKind): ReturnType<typeof toJobFailure> => ({
  message: `The attempt took longer than its limit of ${String(timeout / 1000)} seconds.`,
  isRetryable: true,
  wait: 0,
});

/** @param reason `uncounted`: attempts that did not begin */
async function failForGood(
  { database, store, hooks, log }: AttemptDependencies,
  { kind, job, work }: Pick<Attempt, 'kind' | 'job' | 'work'>,
  {
    message,
    uncounted = 0,
    error,
  }: { readonly message: string; readonly uncounted?: number; readonly error?: unknown },
): Promise<AttemptOutcome> {
  const state = await database.transaction(async (transaction) => {
    const stored = await store.fail(job, message, { uncounted, isDeleted: kind.keep === null });
    const attempts = job.attempt - uncounted;
    const failed = { id: job.id, key: job.key, attempts, message, error, isCancelled: false };
    if (stored === 'failed') await kind.failed(job.args, failed, transaction);
    return stored;
  });
  if (state === null) return 'lost';
  // Who started the job gets the error.
  if (kind.run === null && work !== undefined) return 'failed';
  logJobFailure(log, error, { ...nameOf({ kind, job }), reason: message });
  if (hooks.hasAction('job_failed') !== false)
    await hooks.doActionAsync('job_failed', { id: job.id, owner: kind.owner, name: kind.name, key: job.key }, message);
  return 'failed';
}
