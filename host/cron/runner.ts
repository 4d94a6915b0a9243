import type { Clock, HooksApi, Logger, Undo } from '#plugin-api';
import type { Schedules } from './schedules.ts';
import { leaseLength, type Claim, type CronHistory, type CronRun, type CronStore, type StoredEvent } from './store.ts';

/** What cron needs of the hooks: to run an action, and to hear of callbacks that threw in it. */
export interface CronHooks extends Pick<HooksApi, 'doActionAsync' | 'hasAction'> {
  onFailure(listener: (failure: { readonly hook: string; readonly owner: string; readonly error: unknown }) => void): Undo;
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
  runNow(event: Pick<StoredEvent, 'hook' | 'args' | 'schedule'>): Promise<CronRun>;
}

/** Runs events: those of one hook one after the other, different hooks side by side. */
export function createRunner({ store, history, schedules, hooks, clock, log }: RunnerDependencies): Runner {
  const running = new Map<string, Promise<unknown>>();

  /** Events of one hook take turns, so that a failure is known to belong to its run. */
  function inTurn<Result>(hook: string, work: () => Promise<Result>): Promise<Result> {
    const turn = (running.get(hook) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => undefined).then(() => {
      if (running.get(hook) === settled) running.delete(hook);
    });
    running.set(hook, settled);
    return turn;
  }

  async function perform(event: Pick<StoredEvent, 'hook' | 'args' | 'schedule'>, dueAt: number): Promise<CronRun> {
    const startedAt = clock.now();
    const errors: string[] = [];
    const undo = hooks.onFailure(({ hook, owner, error }) => {
      if (hook === event.hook) errors.push(`${owner}: ${error instanceof Error ? error.message : String(error)}`);
    });
    const heard = Boolean(hooks.hasAction(event.hook));
    await hooks.doActionAsync(event.hook, ...event.args).finally(undo);
    const outcome = errors.length > 0 ? 'failed' : heard ? 'done' : 'unheard';
    const run: CronRun = { ...event, dueAt, startedAt, finishedAt: clock.now(), outcome, error: errors.join('\n') || null };
    await history.record(run);
    return run;
  }

  async function runClaim(claim: Claim): Promise<void> {
    const { event } = claim;
    const stopRenewing = clock.every(leaseLength / 3, () => {
      store.renew(claim).catch((error: unknown) => {
        log.warn('A cron lease could not be renewed.', { hook: event.hook, error });
      });
    });
    try {
      await perform(event, event.nextRun);
    } finally {
      stopRenewing();
      const next = event.schedule === null ? null : schedules.next(event.schedule, { previous: event.nextRun, now: clock.now() });
      await store.release(claim, next);
    }
  }

  return {
    async runDue() {
      const due = await store.due(clock.now());
      const ran = await Promise.all(
        due.map((event) =>
          inTurn(event.hook, async () => {
            const claim = await store.claim(event);
            if (claim === null) return 0;
            await runClaim(claim);
            return 1;
          }),
        ),
      );
      return ran.reduce<number>((sum, count) => sum + count, 0);
    },
    runNow: (event) => inTurn(event.hook, () => perform({ hook: event.hook, args: event.args, schedule: event.schedule }, clock.now())),
  };
}
