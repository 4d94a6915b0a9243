import { AsyncResource } from 'node:async_hooks';
import type { HostApi, Undo } from '#plugin-api';
import type { Claims } from '../queue/claims.ts';
import type { TaskTypes } from '../tasks/task-types.ts';
import type { Task } from '../tasks/task.ts';
import type { Job } from './attempt.ts';
import { createInFlightItems } from './in-flight.ts';

export interface WorkerParts {
  readonly host: Pick<HostApi, 'clock' | 'log'>;
  readonly claims: Claims;
  readonly types: TaskTypes;
  readonly task: (id: number) => Promise<Task | null>;
  /** Items processed at once in this process. */
  readonly concurrency: () => Promise<number>;
  readonly attempt: (job: Job) => Promise<void>;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
}

export interface Worker {
  readonly isStarted: boolean;
  /** Starts processing in the background. */
  start(): void;
  /** Claims nothing new, waits some seconds for the attempts in progress, then releases their items. */
  stop(): Promise<void>;
  /** Looks for due items now. */
  wake(): void;
  /** Aborts those of these items that are in progress here. Nothing of them is stored. */
  abandon(ids: readonly number[]): void;
  /** Processes items until none is due. Returns the number of attempts. */
  drain(): Promise<number>;
}

/** Polls at least this often, in milliseconds: finds items whose notification from another node was lost. */
const longestPause = 60_000;
const afterFailure = 5_000;
/** Pause while other nodes are claiming the due items, in milliseconds. */
const shortestPause = 250;

/** Claims items up to the concurrency limit, then sleeps until the next one is due. */
export function createWorker(parts: WorkerParts): Worker {
  const { host, claims } = parts;
  const state = { isStarted: false, isStopping: false, again: false };
  let polling: Promise<void> | null = null;
  const inFlight = createInFlightItems({
    ...parts,
    onEnd: () => {
      wake();
    },
  });
  const claimNext = createClaimer(parts, { start: inFlight.start, isStopping: () => state.isStopping });
  const isFull = async (): Promise<boolean> => state.isStopping || inFlight.size >= (await parts.concurrency());

  const alarm = createAlarm(host.clock, () => {
    wake();
  });

  async function poll(): Promise<void> {
    alarm.clear();
    do {
      state.again = false;
      try {
        while (!(await isFull()) && (await claimNext()));
        if (!(await isFull())) await scheduleNext();
      } catch (error) {
        host.log.warn('Failed to read the automation queue; trying again', {
          event: 'automation_queue_read_failed',
          error,
        });
        alarm.set(afterFailure);
      }
    } while (state.again);
  }

  /** Wakes the worker when the next item is due. At the concurrency limit, the end of an attempt wakes it. */
  async function scheduleNext(): Promise<void> {
    if (!state.isStarted) return;
    const wait = await claims.nextDue(await listTypeIds(parts));
    alarm.set(Math.min(longestPause, Math.max(shortestPause, (wait ?? longestPause) + 1)));
  }

  // A caller may wake the worker inside its transaction; the worker must not take part in it.
  const pollDetached = AsyncResource.bind((): Promise<void> => {
    state.again = true;
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
    start() {
      state.isStarted = true;
      wake();
    },
    async stop() {
      state.isStopping = true;
      await polling;
      alarm.clear();
      await inFlight.stop();
    },
    wake,
    abandon: inFlight.abandon,
    async drain() {
      const before = inFlight.started;
      for (;;) {
        await pollDetached();
        if (inFlight.size === 0 || state.isStopping) return inFlight.started - before;
        await inFlight.next();
      }
    },
  };
}

/** A timer that holds one deadline at a time. */
function createAlarm(
  clock: Pick<HostApi['clock'], 'after'>,
  ring: () => void,
): { set(milliseconds: number): void; clear(): void } {
  let undo: Undo | null = null;
  const clear = (): void => {
    undo?.();
    undo = null;
  };
  return {
    clear,
    set(milliseconds) {
      clear();
      undo = clock.after(milliseconds, ring);
    },
  };
}

async function listTypeIds({ types }: Pick<WorkerParts, 'types'>): Promise<string[]> {
  return (await types.list()).map(({ id }) => id);
}

/** Claims the next due item, tasks in round-robin order, and starts it. Returns false if none is due. */
function createClaimer(
  parts: WorkerParts,
  {
    start,
    isStopping,
  }: { readonly start: (item: Job['item'], task: Task, type: Job['type']) => void; readonly isStopping: () => boolean },
): () => Promise<boolean> {
  const { claims, types } = parts;
  let lastTask = 0;
  return async () => {
    const known = await listTypeIds(parts);
    const item = known.length === 0 ? null : await claims.claim(known, lastTask);
    if (item === null) return false;
    lastTask = item.taskId;
    const task = await parts.task(item.taskId);
    const type = task === null ? undefined : await types.get(task.type);
    // The task was deleted or its plugin was deactivated after the claim.
    if (task === null || type === undefined || isStopping()) await claims.release(item);
    else start(item, task, type);
    return true;
  };
}
