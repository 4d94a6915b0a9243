import { AsyncResource } from 'node:async_hooks';
import { JobLostError, type Clock, type Logger, type RunningJob, type Undo } from '#plugin-api';
import type { AbortReason, AttemptOutcome } from './attempt.ts';
import type { JobKind } from './job-kinds.ts';
import { leaseDuration } from './attempt-store.ts';
import type { ClaimedJob, JobStore } from './job-store.ts';

export interface WorkerDependencies {
  readonly store: Pick<JobStore, 'nextDue' | 'claim' | 'renew' | 'release' | 'repairTimes'>;
  /** How far the clock of due times jumped since the last call, in milliseconds; 0: it did not. */
  readonly readJump: () => number;
  readonly kinds: () => readonly JobKind[];
  readonly attempt: (attempt: {
    readonly kind: JobKind;
    readonly job: ClaimedJob;
    readonly controller: AbortController;
    readonly stopRequested: AbortSignal;
    readonly work?: JobKind['run'];
  }) => Promise<AttemptOutcome>;
  readonly onEnd: (kind: JobKind, outcome: AttemptOutcome, milliseconds: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  /** Milliseconds that attempts get to end on shutdown. Default 4,000. */
  readonly shutdownTimeout?: number | undefined;
}

export interface Worker {
  readonly isStarted: boolean;
  /** Attempts in progress, by kind. */
  running(kind: JobKind): number;
  /** Starts to run due jobs in the background. */
  start(): void;
  /** Looks for due jobs soon. */
  wake(): void;
  /** Renews leases now: attempts at jobs that were cancelled or are to stop learn of it. */
  check(): Promise<void>;
  /** Does the work of a job that this process holds already. Rejects with its error, or JobLostError. */
  hold<Result>(kind: JobKind, job: ClaimedJob, work: (job: RunningJob) => Promise<Result>): Promise<Result>;
  /** Runs jobs of some kinds, default all, until none is due and none runs here. Returns the number of attempts. */
  drain(which?: (kind: JobKind) => boolean): Promise<number>;
  /** Aborts the attempts of a kind and returns their jobs to the queue. */
  abandon(kind: JobKind): Promise<void>;
  /** Claims nothing new, waits some seconds for attempts in progress, then returns their jobs to the queue. */
  stop(): Promise<void>;
}

interface Running {
  readonly kind: JobKind;
  readonly job: ClaimedJob;
  readonly controller: AbortController;
  readonly stop: AbortController;
  readonly done: Promise<AttemptOutcome>;
}

const heartbeatInterval = 8_000;
/** Most milliseconds between two looks: finds jobs whose notification from another node was lost. */
const longestPause = 30_000;
/** While other nodes claim what is due, in milliseconds. */
const shortestPause = 50;
const afterFailure = 5_000;

/** Claims due jobs up to the limit of each kind, then sleeps until the next one is due. */
export function createWorker(dependencies: WorkerDependencies): Worker {
  const { store, clock, log, shutdownTimeout = 4_000 } = dependencies;
  const state = { isStarted: false, isStopping: false, isAgain: false, claimsFrom: 0 };
  const attempts = createAttempts(dependencies, () => wake());
  let polling: Promise<void> | null = null;
  let alarm: Undo | null = null;

  function setAlarm(milliseconds: number): void {
    alarm?.();
    alarm = state.isStarted && !state.isStopping ? clock.after(milliseconds, wake) : null;
  }

  /**
   * After the clock was set forward all leases are over, though their jobs go on: this process renews its own, and claims nothing
   * until others have renewed theirs. After it was set back, jobs would wait for the difference on top.
   */
  async function followClock(): Promise<void> {
    const jump = dependencies.readJump();
    if (jump === 0) return;
    log.warn('The clock jumped', { event: 'jobs_clock_jumped', milliseconds: jump });
    if (jump < 0) await store.repairTimes();
    else state.claimsFrom = dependencies.elapsed() + heartbeatInterval;
    await attempts.renew();
  }

  /** Claims for each kind with room. Returns milliseconds until the next look, or null if something was claimed. */
  async function claimDue(which: (kind: JobKind) => boolean): Promise<number | null> {
    await followClock();
    const held = state.claimsFrom - dependencies.elapsed();
    if (held > 0) return held;
    const open: { readonly kind: JobKind; readonly slots: number }[] = [];
    for (const kind of dependencies.kinds().filter(which)) {
      const slots = await kind.concurrency();
      if (slots > attempts.count(kind)) open.push({ kind, slots });
    }
    if (open.length === 0 || state.isStopping) return longestPause;
    const waits = await store.nextDue(open.map(({ kind }) => kind));
    let claimed = 0;
    for (const [index, { kind, slots }] of open.entries()) {
      if (waits[index] !== 0 || state.isStopping) continue;
      const jobs = await store.claim(kind, slots - attempts.count(kind));
      claimed += jobs.length;
      for (const job of jobs) await attempts.start(kind, job, state.isStopping);
    }
    if (claimed > 0) return null;
    const next = Math.min(longestPause, ...waits.filter((wait) => wait !== null));
    return Math.max(shortestPause, next + 1);
  }

  let turn: Promise<unknown> = Promise.resolve();
  /** One after the other, or two of them would exceed the limit of a kind. Outside of a caller's transaction. */
  const claimInTurn = AsyncResource.bind((which: (kind: JobKind) => boolean): Promise<number | null> => {
    const claimed = turn.then(() => claimDue(which));
    turn = claimed.catch(() => undefined);
    return claimed;
  }) as (which: (kind: JobKind) => boolean) => Promise<number | null>;

  async function poll(): Promise<void> {
    do {
      state.isAgain = false;
      try {
        const pause = await claimInTurn(() => true);
        if (pause === null) state.isAgain = true;
        else setAlarm(pause);
      } catch (error) {
        log.warn('Failed to read the jobs; trying again', { event: 'jobs_read_failed', error });
        setAlarm(afterFailure);
      }
    } while (state.isAgain && !state.isStopping);
  }
  // A caller may wake the worker inside its transaction; the worker must not take part in it.
  const pollDetached = AsyncResource.bind((): Promise<void> => {
    state.isAgain = true;
    polling ??= poll().finally(() => {
      polling = null;
    });
    return polling;
  }) as () => Promise<void>;
  function wake(): void {
    if (state.isStarted && !state.isStopping) void pollDetached();
  }

  return {
    get isStarted() {
      return state.isStarted;
    },
    running: attempts.count,
    start() {
      state.isStarted = true;
      wake();
    },
    wake,
    check: () => attempts.renew(),
    hold: attempts.hold,
    async drain(which = () => true) {
      const before = attempts.started(which);
      for (;;) {
        const ended = attempts.ended();
        while (!state.isStopping && (await claimInTurn(which)) === null);
        const running = attempts.running(which);
        // An attempt that ended during the look has left a slot that it did not fill.
        const isIdle = running.length === 0 && attempts.ended() === ended;
        if (isIdle || state.isStopping) return attempts.started(which) - before;
        if (running.length > 0) await Promise.race(running);
      }
    },
    abandon: (kind) => attempts.abort((running) => running.kind === kind),
    async stop() {
      state.isStopping = true;
      await polling;
      alarm?.();
      await attempts.settle(shutdownTimeout);
      await attempts.abort(() => true);
    },
  };
}

/** The attempts in progress in this process, and their leases. */
function createAttempts({ store, attempt, onEnd, clock, log, elapsed }: WorkerDependencies, onSlotFree: () => void) {
  const running = new Set<Running>();
  const counts = new Map<JobKind, number>();
  let stopHeartbeat: Undo | null = null;
  let renewedAt = elapsed();
  let renewing: Promise<void> | null = null;
  let ended = 0;
  const started = new Map<JobKind, number>();

  async function renewNow(): Promise<void> {
    const startedAt = elapsed();
    const renewed = [...running];
    if (renewed.length === 0) return;
    try {
      const held = await store.renew(renewed.map(({ job }) => job));
      renewedAt = startedAt;
      for (const { job, controller, stop } of renewed) {
        const lease = held.get(job.id);
        if (lease === undefined) controller.abort('lost' satisfies AbortReason);
        else if (lease.isStopRequested) stop.abort();
      }
    } catch (error) {
      log.warn('Failed to renew the leases of jobs; trying again', { event: 'job_lease_renewal_failed', error });
      if (elapsed() - renewedAt > leaseDuration)
        for (const { controller } of renewed) controller.abort('lost' satisfies AbortReason);
    }
  }
  const renew = (): Promise<void> =>
    (renewing ??= renewNow().finally(() => {
      renewing = null;
    }));

  function begin(kind: JobKind, job: ClaimedJob, work?: NonNullable<JobKind['run']>): Promise<AttemptOutcome> {
    const controller = new AbortController();
    const stop = new AbortController();
    const startedAt = elapsed();
    started.set(kind, (started.get(kind) ?? 0) + 1);
    const count = (change: number): unknown => work === undefined && counts.set(kind, (counts.get(kind) ?? 0) + change);
    count(1);
    const attempted = attempt({ kind, job, controller, stopRequested: stop.signal, ...(work && { work }) });
    const done = attempted.then((outcome) => {
      ended += 1;
      running.delete(entry);
      count(-1);
      if (running.size === 0) {
        stopHeartbeat?.();
        stopHeartbeat = null;
      }
      onEnd(kind, outcome, elapsed() - startedAt);
      onSlotFree();
      return outcome;
    });
    const entry: Running = { kind, job, controller, stop, done };
    running.add(entry);
    if (stopHeartbeat !== null) return done;
    renewedAt = elapsed();
    stopHeartbeat = clock.every(heartbeatInterval, () => void renew());
    return done;
  }
  const endOf = (which: Iterable<Running>): Promise<unknown> => Promise.all([...which].map(({ done }) => done));

  return {
    count: (kind: JobKind): number => counts.get(kind) ?? 0,
    /** Attempts of some kinds so far. */
    started: (which: (kind: JobKind) => boolean): number =>
      [...started].reduce((sum, [kind, count]) => sum + (which(kind) ? count : 0), 0),
    /** Attempts that have ended so far. */
    ended: (): number => ended,
    /** The ends of the attempts of some kinds in progress. */
    running: (which: (kind: JobKind) => boolean): Promise<unknown>[] =>
      [...running].filter(({ kind }) => which(kind)).map(({ done }) => done),
    renew,
    /** Starts an attempt, or returns the job if the worker is stopping. */
    async start(kind: JobKind, job: ClaimedJob, isStopping: boolean): Promise<void> {
      if (isStopping) await store.release(job);
      else void begin(kind, job);
    },
    async hold<Result>(kind: JobKind, job: ClaimedJob, work: (job: RunningJob) => Promise<Result>): Promise<Result> {
      const end: { results: Result[]; error: unknown } = { results: [], error: new JobLostError() };
      const outcome = await begin(kind, job, async (_args, running) => {
        try {
          end.results.push(await work(running));
        } catch (error) {
          end.error = error;
          throw error;
        }
      });
      if (outcome !== 'completed' || end.results.length === 0) throw end.error;
      return end.results[0] as Result;
    },
    async abort(which: (running: Running) => boolean): Promise<void> {
      const aborted = [...running].filter(which);
      for (const { controller } of aborted) controller.abort('stop' satisfies AbortReason);
      await endOf(aborted);
    },
    async settle(milliseconds: number): Promise<void> {
      if (running.size === 0) return;
      const finished = new AbortController();
      await Promise.race([
        endOf(running).then(() => {
          finished.abort();
        }),
        clock.sleep(milliseconds, finished.signal).catch(() => undefined),
      ]);
    },
  };
}
