import { inRequest, createMutex, errorText, type Clock, type HooksApi, type Logger, type Undo } from '#plugin-api';
import type { Schedules } from './schedules.ts';
import {
  leaseDuration,
  type Claim,
  type CronHistory,
  type CronRun,
  type CronStore,
  type StoredEvent,
} from './store.ts';

/** What cron needs from the hooks: run an action, and observe errors of its callbacks. */
export interface CronHooks extends Pick<HooksApi, 'doActionAsync' | 'hasAction'> {
  onFailure(
    listener: (failure: {
      readonly kind: string;
      readonly hook: string;
      readonly owner: string;
      readonly error: unknown;
    }) => void,
  ): Undo;
}

export interface RunnerDependencies {
  readonly store: CronStore;
  readonly history: CronHistory;
  readonly schedules: Schedules;
  readonly hooks: CronHooks;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs a job under its name. Default: runs it. */
  readonly track?: (name: string, work: () => unknown) => unknown;
}

export interface Runner {
  /**
   * Runs due events that no other node has claimed. Returns the number that ran here. Events of hooks without callbacks
   * wait: their plugin may be inactive here, and runs them when it is active again.
   */
  runDue(): Promise<number>;
  /** Runs an event's action now, at any time, and records it. */
  runNow(event: RunnableEvent): Promise<CronRun>;
}

type RunnableEvent = Pick<StoredEvent, 'hook' | 'args' | 'schedule'>;

/** After this many crashes of its node an event is not retried: it would crash the next node too. */
const maxAttempts = 3;

/** Runs events of one hook in sequence, and different hooks in parallel. */
export function createRunner(dependencies: RunnerDependencies): Runner {
  const { store, schedules, hooks, clock, log } = dependencies;
  const canRun = (hook: string): boolean => Boolean(hooks.hasAction(hook));
  /** By hook, so that each failure belongs to a known run. */
  const hooksMutex = createMutex();
  /** Ids of events that are running or queued on this node. */
  const inFlight = new Set<string>();

  async function runClaim(claim: Claim): Promise<void> {
    const { event } = claim;
    const stopRenewing = clock.every(leaseDuration / 3, () => {
      store.renew(claim).then(
        (isHeld) => {
          if (!isHeld)
            log.warn('Cron job lost its lease; another node may run it too', {
              event: 'cron_lease_lost',
              hook: event.hook,
            });
        },
        (error: unknown) => {
          log.warn('Failed to renew a cron lease', { event: 'cron_lease_renewal_failed', hook: event.hook, error });
        },
      );
    });
    try {
      await (claim.attempt > maxAttempts ? giveUp(dependencies, claim) : perform(dependencies, event, event.nextRun));
    } finally {
      stopRenewing();
      const next =
        event.schedule === null ? null : schedules.next(event.schedule, { previous: event.nextRun, now: clock.now() });
      await store.release(claim, next);
    }
  }

  async function claimAndRun(event: StoredEvent): Promise<boolean> {
    inFlight.add(event.id);
    try {
      return await hooksMutex.runExclusive(event.hook, async () => {
        if (!canRun(event.hook)) return false;
        const claim = await store.claim(event);
        if (claim === null) return false;
        await runClaim(claim);
        return true;
      });
    } finally {
      inFlight.delete(event.id);
    }
  }

  return {
    async runDue() {
      const due = (await store.due(clock.now(), canRun)).filter(({ id }) => !inFlight.has(id));
      const ran = await Promise.all(due.map(claimAndRun));
      return ran.filter(Boolean).length;
    },
    runNow: (event) => hooksMutex.runExclusive(event.hook, () => perform(dependencies, event, clock.now())),
  };
}

/** Runs the action and records the result. */
async function perform(
  { hooks, history, clock, track = (_name, work) => work() }: RunnerDependencies,
  event: RunnableEvent,
  dueAt: number,
): Promise<CronRun> {
  const startedAt = clock.now();
  const errors: string[] = [];
  const undo = hooks.onFailure(({ kind, hook, owner, error }) => {
    if (kind === 'action' && hook === event.hook) errors.push(`${owner}: ${errorText(error)}`);
  });
  const hasCallback = Boolean(hooks.hasAction(event.hook));
  await inRequest({ door: 'job' }, () =>
    track(`cron ${event.hook}`, () => hooks.doActionAsync(event.hook, ...event.args).finally(undo)),
  );
  const outcome = errors.length > 0 ? 'failed' : hasCallback ? 'done' : 'no_callback';
  const run: CronRun = {
    hook: event.hook,
    args: event.args,
    schedule: event.schedule,
    dueAt,
    startedAt,
    finishedAt: clock.now(),
    outcome,
    error: errors.join('\n') || null,
  };
  await history.record(run);
  return run;
}

async function giveUp({ history, clock, log }: RunnerDependencies, { event }: Claim): Promise<void> {
  const now = clock.now();
  const error = `The node stopped during this job ${maxAttempts} times; it will not be retried.`;
  log.error('Cron event abandoned', { event: 'cron_event_abandoned', hook: event.hook, error });
  await history.record({
    hook: event.hook,
    args: event.args,
    schedule: event.schedule,
    dueAt: event.nextRun,
    startedAt: now,
    finishedAt: now,
    outcome: 'failed',
    error,
  });
}
