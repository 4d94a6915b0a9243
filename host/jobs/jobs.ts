import {
  restError,
  type Clock,
  type HooksApi,
  type JobDefinition,
  type JobFilter,
  type JobInit,
  type JobsApi,
  type JobStatus,
  type JsonValue,
  type Logger,
  type StartedJob,
  type Metric,
  type Undo,
} from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { createAttempt, failOrphan, type AttemptDependencies } from './attempt.ts';
import { argsToJson, createJobKinds, type CompileSchema, type JobKind } from './job-kinds.ts';
import { createJobMetrics } from './job-metrics.ts';
import {
  createJobStore,
  type CancelledJob,
  type ClaimedJob,
  type JobCount,
  type JobSelection,
  type NewJob,
} from './job-store.ts';
import { createOutcomes } from './outcomes.ts';
import { createWorker, type Worker } from './worker.ts';

export { migrations } from './migrations.ts';
export type { JobCount, JobSelection } from './job-store.ts';

export interface JobsDependencies {
  readonly database: Database;
  readonly hooks: Pick<HooksApi, 'doActionAsync' | 'hasAction'> & {
    forOwner(owner: string): Pick<HooksApi, 'addAction'>;
  };
  readonly cron: { recur(owner: string, schedule: string, hook: string): Promise<void> };
  readonly clock: Clock;
  readonly log: Logger;
  readonly compileSchema: CompileSchema;
  /** Runs work under its name. Default: runs it. */
  readonly track?: (name: string, work: () => unknown) => unknown;
  /** 0 up to 1. Default: Math.random. */
  readonly random?: () => number;
  /** Milliseconds that attempts get to end on shutdown. Default 4,000. */
  readonly shutdownTimeout?: number;
  /** How far the machine's clock jumped since the last call, in milliseconds. Default: never. */
  readonly readJump?: () => number;
}

/** The jobs of all owners. */
export interface Jobs {
  /** The jobs of one owner, by the contract. */
  forOwner(owner: string): JobsApi;
  /**
   * Starts to run due jobs: at once if added here, within a second if another node announced them, at most 30 s late.
   *
   * @param init `claims` false: runs only jobs that this process starts.
   */
  start(init?: { readonly claims?: boolean }): Promise<void>;
  /** Claims no more jobs, waits some seconds for attempts in progress and returns their jobs to the queue. */
  stop(): Promise<void>;
  /** Runs jobs of the kinds defined here until none is due. Returns the number of attempts. */
  drain(): Promise<number>;
  /** Newest first. */
  list(selection?: JobSelection, limit?: number): Promise<JobStatus[]>;
  counts(): Promise<JobCount[]>;
  finishedByHour: ReturnType<typeof createJobStore>['finishedByHour'];
  cancel(selection: JobSelection): Promise<number>;
  retry(selection: JobSelection): Promise<boolean>;
  /** The kinds defined in this process. */
  kinds(): readonly Pick<JobKind, 'owner' | 'name' | 'label'>[];
  /** Deletes all jobs of a plugin. Returns their number. */
  removeOwner(owner: string): Promise<number>;
  /** Attempts of this process, and the open and failed jobs of the site. */
  metrics(): Promise<readonly Metric[]>;
}

const channel = 'jobs';
const longestKey = 191;
const mostListed = 1_000;

/** Background jobs of the site (D30); the contract is JobsApi. */
export function createJobs(dependencies: JobsDependencies): Jobs {
  const { database, hooks, cron, clock, log, random = Math.random, track = (_name, work) => work() } = dependencies;
  const store = createJobStore(database);
  const kinds = createJobKinds(dependencies.compileSchema);
  const metrics = createJobMetrics(store);
  const outcomes = createOutcomes({ database, store, clock });
  const attempts: AttemptDependencies = { database, store, outcomes, hooks, clock, log, random, track };
  const { readJump = () => 0 } = dependencies;
  const worker = createWorker({
    store,
    // SQLite takes the machine's time. PostgreSQL has its own clock, which this process cannot compare with another.
    readJump: database.dialect === 'sqlite' ? readJump : () => 0,
    kinds: kinds.list,
    attempt: createAttempt(attempts),
    onEnd: metrics.observe,
    clock,
    log,
    elapsed: () => performance.now(),
    shutdownTimeout: dependencies.shutdownTimeout,
  });
  const announcements = createAnnouncements({ database, log });
  const undos: Undo[] = [];
  const queue = createQueue({ ...dependencies, store, kinds, worker, attempts, announce: announcements.send });
  const sweep = { name: 'jobs_sweep', label: 'Delete old jobs', run: async () => void (await store.sweep()) };
  defineRecurring({ jobs: queue.forOwner('host'), hooks: hooks.forOwner('host') }, sweep);

  return {
    ...queue,
    async start({ claims = true } = {}) {
      await cron.recur('host', 'hourly', sweep.name);
      const onMessage = (what: string): void => (what === 'due' ? worker.wake() : void worker.check());
      undos.push(await database.listen(channel, onMessage, () => worker.wake()));
      if (!claims) return;
      await store.repairTimes();
      worker.start();
    },
    async stop() {
      for (const undo of undos.splice(0)) undo();
      await worker.stop();
      // For the jobs that return to the queue.
      announcements.send('due');
      await announcements.settled();
    },
    drain: () => worker.drain(),
    list: (selection = {}, limit = 100) => store.list(selection, Math.min(mostListed, Math.max(1, limit))),
    counts: () => store.counts(),
    finishedByHour: store.finishedByHour,
    kinds: () => kinds.list(),
    removeOwner: (owner) => store.removeOwner(owner),
    metrics: () => metrics.collect(),
  };
}

interface QueueParts extends JobsDependencies {
  readonly store: ReturnType<typeof createJobStore>;
  readonly kinds: ReturnType<typeof createJobKinds>;
  readonly worker: Worker;
  readonly attempts: AttemptDependencies;
  readonly announce: (what: 'due' | 'cancelled') => void;
}

interface Added {
  readonly owner: string;
  readonly name: string;
  readonly args: JsonValue;
  readonly init: JobInit;
}

function createQueue(parts: QueueParts): Pick<Jobs, 'forOwner' | 'cancel' | 'retry'> {
  const { store, kinds, worker, attempts, database, announce, hooks, cron } = parts;
  const wakeAfterCommit = (): void =>
    database.afterCommit(() => {
      worker.wake();
      announce('due');
    });

  const checkAfterCommit = (): void =>
    database.afterCommit(() => {
      void worker.check();
      announce('cancelled');
    });

  async function cancel(selection: JobSelection): Promise<readonly CancelledJob[]> {
    const cancelled = await store.cancel(selection);
    if (cancelled.length > 0) checkAfterCommit();
    return cancelled;
  }
  /** Notifies the kinds: unlike a plugin that cancels its own jobs, they do not know. */
  const cancelForOwners = (selection: JobSelection): Promise<number> =>
    database.transaction(async (transaction) => {
      const cancelled = await cancel(selection);
      for (const { id, owner, name, key, args, attempts: count } of cancelled) {
        const kind = kinds.get(owner, name);
        const failed = { id, key, attempts: count, message: 'It was cancelled.', isCancelled: true };
        await kind?.failed(args, failed, transaction);
        if (kind?.keep === null) await store.remove(id);
      }
      return cancelled.length;
    });
  async function start(kind: JobKind, job: NewJob): ReturnType<JobsApi['start']> {
    for (;;) {
      const started = await store.start(job);
      if (started !== null) return startedJob(parts, kind, started);
      const found = await store.findOpen(job);
      if (found !== null && (found.orphan === null || kind.run !== null))
        return { isStarted: false, job: found.status };
      if (found?.orphan) await failOrphan(attempts, { kind, job: found.orphan });
      // Without one, the job under the key ended between the two statements.
    }
  }
  async function retry(selection: JobSelection): Promise<boolean> {
    const isRetried = await store.retry(selection);
    if (isRetried) wakeAfterCommit();
    return isRetried;
  }

  async function newJob({ owner, name, args, init }: Added): Promise<NewJob> {
    const checked = await (kinds.get(owner, name)?.check(args) ?? args);
    return { owner, name, ...readInit(name, init), args: argsToJson(name, checked) };
  }

  const forOwner = (owner: string): JobsApi => {
    const jobs = createOwnJobs(owner);
    return {
      ...jobs,
      async every(schedule, definition) {
        await cron.recur(owner, schedule, definition.name);
        return defineRecurring({ jobs, hooks: hooks.forOwner(owner) }, definition);
      },
    };
  };
  const createOwnJobs = (owner: string): Omit<JobsApi, 'every'> => ({
    define(definition) {
      const { kind, undo } = kinds.add(owner, definition);
      worker.wake();
      return () => {
        undo();
        void worker.abandon(kind);
      };
    },
    async add(name, args = null, init = {}) {
      const added = await store.add(await newJob({ owner, name, args, init }));
      wakeAfterCommit();
      return added;
    },
    async addMany(name, jobs) {
      const added = await store.addMany(
        await Promise.all(jobs.map(({ args = null, ...init }) => newJob({ owner, name, args, init }))),
      );
      wakeAfterCommit();
      return added;
    },
    drain: (name) => worker.drain((kind) => kind.owner === owner && (name === undefined || kind.name === name)),
    async start(name, args = null, { key } = {}) {
      const kind = kinds.get(owner, name);
      if (kind === undefined) throw new Error(`Define the job '${name}' before you start one.`);
      const job = await newJob({ owner, name, args, init: key === undefined ? {} : { key } });
      return database.transaction(() => start(kind, job));
    },
    async requestStop(which) {
      const stopped = await store.requestStop(selectionOf(owner, which));
      if (stopped > 0) checkAfterCommit();
      return stopped;
    },
    get: async (id) => (await store.list({ id, owner }, 1))[0] ?? null,
    list: (filter = {}, limit = 100) => store.list({ ...filter, owner }, Math.min(mostListed, Math.max(1, limit))),
    cancel: async (which) => (await cancel(selectionOf(owner, which))).length,
    retry: (id) => retry({ id, owner }),
  });
  return { forOwner, cancel: cancelForOwners, retry };
}

/** Defines a job that an action of its name adds and waits for. */
function defineRecurring(
  { jobs, hooks }: { readonly jobs: Omit<JobsApi, 'every'>; readonly hooks: Pick<HooksApi, 'addAction'> },
  definition: JobDefinition<null>,
): Undo {
  const { name } = definition;
  const undoDefinition = jobs.define(definition);
  const undoAction = hooks.addAction(name, async () => {
    await jobs.add(name, null, { key: name });
    // Where no worker runs, cron commands do the work.
    await jobs.drain(name);
  });
  return () => {
    undoAction();
    undoDefinition();
  };
}

function startedJob({ store, worker }: QueueParts, kind: JobKind, { args, ...job }: ClaimedJob): StartedJob {
  let held = { ...job, args };
  return {
    isStarted: true,
    id: job.id,
    async setArgs(next) {
      await store.setArgs(job, argsToJson(kind.name, next));
      held = { ...job, args: next };
    },
    run: (work) => worker.hold(kind, held, work),
  };
}

function selectionOf(owner: string, which: number | JobFilter): JobSelection {
  return typeof which === 'number' ? { id: which, owner } : { ...which, owner };
}

function readInit(name: string, init: JobInit): Pick<NewJob, 'key' | 'priority' | 'due' | 'replace'> {
  const { key = null, whenWaiting = 'keep', dueAt, delay = 0, priority = 10 } = init;
  const refuse = (problem: string): never => {
    throw restError(400, 'rest_job_invalid', `The job '${name}' has ${problem}`);
  };
  if (key !== null && (key === '' || key.length > longestKey)) refuse('a key that is empty or over 191 characters.');
  if (!Number.isInteger(priority) || Math.abs(priority) > 1_000) refuse('a priority that is no integer within ±1,000.');
  const time = dueAt ?? delay;
  if (!Number.isFinite(time) || time < 0)
    refuse(`a ${dueAt === undefined ? 'delay' : 'due time'} that is not 0 or more.`);
  return {
    key,
    priority,
    replace: whenWaiting === 'replace',
    due: dueAt === undefined ? { in: delay } : { at: dueAt },
  };
}

/** Notifies other nodes of new and cancelled jobs: one notification for all of a turn of the event loop. */
function createAnnouncements({ database, log }: Pick<JobsDependencies, 'database' | 'log'>) {
  const pending = new Map<string, Promise<void>>();
  return {
    send(what: string): void {
      if (pending.has(what)) return;
      const sent = new Promise<void>((resolve) => {
        setImmediate(() => {
          pending.delete(what);
          database
            .notify(channel, what)
            .catch((error: unknown) => log.warn('Failed to announce jobs', { event: 'jobs_announce_failed', error }))
            .finally(resolve);
        });
      });
      pending.set(what, sent);
    },
    async settled(): Promise<void> {
      await Promise.all(pending.values());
    },
  };
}
