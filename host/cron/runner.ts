import type { Clock, HooksApi, Logger, Undo } from '#plugin-api';
import type { Schedules } from './schedules.ts';
import { leaseLength, type Claim, type CronHistory, type CronRun, type CronStore, type StoredEvent } from './store.ts';

/** What cron needs of the hooks: to run an action, and to hear of callbacks that threw in it. */
export interface CronHooks extends Pick<HooksApi, 'doActionAsync' | 'hasAction'> {
  onFailure(
    listener: (failure: { readonly hook: string; readonly owner: string; readonly error: unknown }) => void,
  ): Undo;
}

export interface RunnerDependencies {
  readonly store: CronStore;
  readonly history: CronHistory;
  readonly schedules: Schedules;
  readonly hooks: CronHooks;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Runner {
  /** Runs what is due and not claimed by another node; answers how many ran here. */
  runDue(): Promise<number>;
  /** Runs an event's action now, whatever its time, and records it. */
  runNow(event: RunnableEvent): Promise<CronRun>;
}

type RunnableEvent = Pick<StoredEvent, 'hook' | 'args' | 'schedule'>;

/** An event whose job took its node down this often is not tried again: it would take the next one down too. */
const maxAttempts = 3;

/** Runs events: those of one hook one after the other, different hooks side by side. */
export function createRunner(dependencies: RunnerDependencies): Runner {
  const { store, schedules, clock, log } = dependencies;
  const running = new Map<string, Promise<unknown>>();
  /** Events that run or wait for their turn here. */
  const taken = new Set<string>();

  /** Events of one hook take turns, so that a failure is known to belong to its run. */
  function inTurn<Result>(hook: string, work: () => Promise<Result>): Promise<Result> {
    const turn = (running.get(hook) ?? Promise.resolve()).then(work);
    const settled = turn
      .catch(() => undefined)
      .then(() => {
        if (running.get(hook) === settled) running.delete(hook);
      });
    running.set(hook, settled);
    return turn;
  }

  async function runClaim(claim: Claim): Promise<void> {
    const { event } = claim;
    const stopRenewing = clock.every(leaseLength / 3, () => {
      store.renew(claim).then(
        (isHeld) => {
          if (!isHeld)
            log.warn('A cron job runs on without its lease; another node may run it too.', { hook: event.hook });
        },
        (error: unknown) => {
          log.warn('A cron lease could not be renewed.', { hook: event.hook, error });
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
    taken.add(event.id);
    try {
      return await inTurn(event.hook, async () => {
        const claim = await store.claim(event);
        if (claim === null) return false;
        await runClaim(claim);
        return true;
      });
    } finally {
      taken.delete(event.id);
    }
  }

  return {
    async runDue() {
      const due = (await store.due(clock.now())).filter(({ id }) => !taken.has(id));
      const ran = await Promise.all(due.map(claimAndRun));
      return ran.filter(Boolean).length;
    },
    runNow: (event) => inTurn(event.hook, () => perform(dependencies, event, clock.now())),
  };
}

/** Runs the action and records what came of it. */
async function perform(
  { hooks, history, clock }: RunnerDependencies,
  event: RunnableEvent,
  dueAt: number,
): Promise<CronRun> {
  const startedAt = clock.now();
  const errors: string[] = [];
  const undo = hooks.onFailure(({ hook, owner, error }) => {
    if (hook === event.hook) errors.push(`${owner}: ${error instanceof Error ? error.message : String(error)}`);
  });
  const heard = Boolean(hooks.hasAction(event.hook));
  await hooks.doActionAsync(event.hook, ...event.args).finally(undo);
  const outcome = errors.length > 0 ? 'failed' : heard ? 'done' : 'unheard';
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
  const error = `The node ended during the job, ${maxAttempts} times; it was not tried again.`;
  log.error('A cron event was given up.', { hook: event.hook, error });
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
