import type { Knex } from './database.ts';
import type { JsonSchema, JsonValue } from './schema.ts';
import type { Undo } from './undo.ts';

/** A kind of background job: its name, its limits and the function that does the work. */
export interface JobDefinition<Args extends JsonValue = JsonValue> {
  /** Lower-case letters, digits, `_` and `-`, at most 60; unique within the plugin. */
  readonly name: string;
  /** Shown on the page Jobs. Default: the name. */
  readonly label?: string;
  /** Schema of the arguments. Default: any JSON value. */
  readonly schema?: JsonSchema;
  /** Attempts until the job fails for good, 1 to 100. Default 3. A function is asked at each attempt; it may return Infinity. */
  readonly attempts?: number | ((args: Args) => number | Promise<number>);
  /**
   * Seconds before the second, third, ... attempt; the last one repeats. Each wait is shortened at random by up to half.
   * Default 5, 30, 120, 600. A function is asked after each attempt that failed.
   */
  readonly backoff?: readonly number[] | ((args: Args) => readonly number[] | Promise<readonly number[]>);
  /** Jobs of this kind that run at once in one process, 1 to 1,000. Default 1. A function is asked before each claim. */
  readonly concurrency?: number | (() => number | Promise<number>);
  /**
   * Seconds that one attempt may take, 1 to 86,400. Default 900. Then its signal is aborted, the attempt counts as failed and
   * its slot is given to the next job, whether the function ends or not.
   */
  readonly timeout?: number;
  /** Seconds that a completed job is kept for the page Jobs and for `get`, 0 or more. Default 86,400. */
  readonly keep?: number;
  /**
   * Does the work. What it returns is stored as the job's result (JSON, at most 64 kB).
   *
   * A rejection is retried after the back-off, or after the error's `headers['retry-after']` if that is longer (at most
   * 24 hours). Errors with `retryable: false` or with a `status` from 400 to 499 other than 408, 425 and 429 are not.
   *
   * A job can run more than once: its process may be killed after the work and before the result is stored. Pass
   * `job.commit` what writes to the database; elsewhere use `job.id` as an idempotency key.
   *
   * Leave it out if only the process that `start`s a job can do its work. Such jobs have one attempt and are deleted when
   * they end.
   */
  run?(args: Args, job: RunningJob): Promise<JsonValue | void>;
  /**
   * Runs in the transaction that marks a job as failed for good: after its last attempt, a refusal, or processes that ended
   * too often; and when it is cancelled on the page Jobs or by a command. What it writes is stored with that state, or neither
   * is: after a rejection the job is tried again when its lease ends. Not called where the job was added again under its key
   * while it ran.
   */
  failed?(args: Args, job: FailedJob, transaction: Knex.Transaction): Promise<void>;
  /** Runs in the transaction that returns a job to the queue: after an attempt that is retried, and at shutdown. */
  postponed?(args: Args, job: PostponedJob, transaction: Knex.Transaction): Promise<void>;
}

/** A job that failed for good, or was cancelled on the page Jobs or by a command. */
export interface FailedJob {
  readonly id: number;
  readonly key: string | null;
  /** Attempts that began. */
  readonly attempts: number;
  /** The last attempt's error, a sentence. */
  readonly message: string;
  /** The error itself, where this process threw it in the last attempt. */
  readonly error?: unknown;
  readonly isCancelled: boolean;
}

/** A job whose next attempt is due later. */
export interface PostponedJob {
  readonly id: number;
  readonly key: string | null;
  /** Attempts that count. */
  readonly attempts: number;
  /** The last attempt's error, a sentence; null at shutdown. */
  readonly message: string | null;
  /** Milliseconds until the next attempt is due. */
  readonly wait: number;
}

/** One attempt at a job. */
export interface RunningJob {
  readonly id: number;
  readonly key: string | null;
  /** 1 for the first. */
  readonly attempt: number;
  /** Fencing token: rises with each claim of this job, on any node. */
  readonly token: number;
  /** Aborted when the attempt must end: time limit, lost lease, cancellation, or shutdown. */
  readonly signal: AbortSignal;
  /** Aborted when `requestStop` asks the attempt to end early. It may still commit. */
  readonly stopRequested: AbortSignal;
  /**
   * Runs `work` and stores what it returns as the job's arguments, in one transaction, which only commits while this attempt
   * holds the job. A later attempt continues from there: effects of each step happen once.
   *
   * @throws JobLostError if another attempt holds the job, or it was cancelled. Nothing is written then.
   */
  checkpoint<Args extends JsonValue>(work: (transaction: Knex.Transaction) => Promise<Args>): Promise<Args>;
  /** Stores the progress within a second. @param total 0: unknown. @param message at most 200 characters. */
  progress(done: number, total?: number, message?: string): void;
  /**
   * Completes the job and runs `work` in one transaction, which only commits while this attempt holds the job: effects
   * happen once, whatever other nodes do. Call it last; it runs once per attempt. While the database is unavailable it is tried
   * again, for as long as the job is held: `work` may then run again, after a rollback.
   *
   * @returns what `work` returned, which is the job's result too.
   * @throws JobLostError if another attempt holds the job, or it was cancelled. Nothing is written then.
   */
  commit<Result extends JsonValue | void>(work: (transaction: Knex.Transaction) => Promise<Result>): Promise<Result>;
}

export interface JobInit {
  /**
   * At most one job of a kind waits under a key, at most 191 characters, and none runs beside another. Adding while one runs
   * makes it run again afterwards, with the new arguments. Default: no key.
   */
  readonly key?: string;
  /** What to do with a job that already waits under the key: `keep` it (default) or `replace` it, with all its attempts. */
  readonly whenWaiting?: 'keep' | 'replace';
  /** Milliseconds since the epoch. Default: now. */
  readonly dueAt?: number;
  /** Milliseconds from now, by the database's clock; instead of `dueAt`. */
  readonly delay?: number;
  /** Lower runs earlier, -1,000 to 1,000. Default 10. Older jobs run first within a priority. */
  readonly priority?: number;
}

export type JobState = 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled';

/** A stored job. Times are milliseconds since the epoch. */
export interface JobStatus {
  readonly id: number;
  /** Slug of the plugin, or `host`. */
  readonly owner: string;
  readonly name: string;
  readonly key: string | null;
  readonly args: JsonValue;
  readonly state: JobState;
  readonly priority: number;
  /** Attempts so far, including one in progress. */
  readonly attempts: number;
  /** Null unless it waits. */
  readonly dueAt: number | null;
  /** `total` 0: unknown. Null before the first report. */
  readonly progress: { readonly done: number; readonly total: number; readonly message: string } | null;
  readonly result: JsonValue;
  /** The last attempt's error, a sentence. */
  readonly error: string | null;
  readonly createdAt: number;
  /** Start of the latest attempt. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** A job that this process holds from the start. */
export interface StartedJob {
  readonly isStarted: true;
  readonly id: number;
  /** Replaces the arguments before `run`: what `failed` is to undo. Inside a transaction it takes part in it. */
  setArgs(args: JsonValue): Promise<void>;
  /**
   * Does the work under a renewed lease and the time limit of the kind, with the errors and retries of `JobDefinition.run`.
   *
   * @returns what the work returned.
   * @throws the error of the work once it is stored; JobLostError if the job was lost or cancelled.
   */
  run<Result>(work: (job: RunningJob) => Promise<Result>): Promise<Result>;
}

/** Which jobs of the plugin. */
export interface JobFilter {
  readonly name?: string;
  readonly key?: string;
  /** Any of these. */
  readonly keys?: readonly string[];
  readonly state?: JobState;
}

/**
 * Background jobs that outlive the process: stored in the database, run by one node at a time under a lease on the
 * database's clock, retried with back-off, listed on the page Jobs (D30). A plugin sees its own jobs only. While it is
 * inactive its jobs are kept and do not run.
 */
export interface JobsApi {
  /** @throws Error if the definition is invalid or the name is taken. */
  define<Args extends JsonValue = JsonValue>(definition: JobDefinition<Args>): Undo;
  /**
   * Defines a job and adds it on a schedule, by a cron event of the same name, whose action waits until the job has ended.
   * The job's key is its name: two nodes never run it at once, and one that waits for its next attempt is not added again.
   * While the plugin is inactive, event and job wait.
   *
   * @param schedule as in `cron.schedule`. @throws as `define` and `cron.schedule`.
   */
  every(schedule: string, definition: JobDefinition<null>): Promise<Undo>;
  /**
   * Stores a job. Inside a transaction it takes part in it and starts after the commit. Jobs may be added for a kind that is
   * not defined yet; they wait for it.
   *
   * @returns its id, or that of the job that already has the key.
   * @throws RestError 400 if the arguments do not match the schema; Error if they are not JSON or over 256 kB.
   */
  add(name: string, args?: JsonValue, init?: JobInit): Promise<{ readonly id: number; readonly isNew: boolean }>;
  /** Adds many jobs, as `add` does, in few statements. Returns the number of new ones. */
  addMany(name: string, jobs: readonly (JobInit & { readonly args?: JsonValue })[]): Promise<number>;
  /**
   * Runs the plugin's jobs in this process, of one name or all, until none is due and none runs here: for commands and tests.
   * Returns the number of attempts.
   */
  drain(name?: string): Promise<number>;
  /**
   * Stores a job that this process works on from the start, for work that a request follows. Inside a transaction it takes part
   * in it; call `run` after the commit, within 30 s. The limit of concurrency does not apply. If the process ends, another
   * node runs the job again, or fails it if its kind has no `run`.
   *
   * @returns the job that waits or runs under the key, if there is one.
   * @throws Error if the kind is not defined; errors of `add`.
   */
  start(
    name: string,
    args?: JsonValue,
    init?: Pick<JobInit, 'key'>,
  ): Promise<StartedJob | { readonly isStarted: false; readonly job: JobStatus }>;
  /** Asks running attempts on all nodes to end early, within a second. Returns their number. */
  requestStop(which: number | JobFilter): Promise<number>;
  get(id: number): Promise<JobStatus | null>;
  /** Newest first. @param limit 1 to 1,000. Default 100. */
  list(filter?: JobFilter, limit?: number): Promise<JobStatus[]>;
  /** Cancels waiting and running jobs; attempts in progress are aborted within a second on all nodes. Returns their number. */
  cancel(which: number | JobFilter): Promise<number>;
  /** Runs a failed or cancelled job again, with all its attempts. Returns whether it was one. */
  retry(id: number): Promise<boolean>;
}

/** The attempt no longer holds its job: the lease expired and another node has it, or it was cancelled. */
export class JobLostError extends Error {
  override readonly name = 'JobLostError';
  readonly code = 'job_lost';

  constructor() {
    super('The job is no longer held by this attempt. Another node may run it, or it was cancelled.');
  }
}
