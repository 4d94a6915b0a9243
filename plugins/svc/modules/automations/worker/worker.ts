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
  /** Items worked on at once in this process. */
  readonly concurrency: () => Promise<number>;
  readonly attempt: (job: Job) => Promise<void>;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
}

export interface Worker {
  readonly isStarted: boolean;
  /** Begins to work in the background. */
  start(): void;
  /** Takes nothing new, lets what is under way end for a moment, then gives it back. */
  stop(): Promise<void>;
  /** There may be something to do. */
  wake(): void;
  /** Gives up these items, should they be under way here: they are not this process's any more. */
  abandon(ids: readonly number[]): void;
  /** Works until nothing is due. Answers how many attempts were made. */
  drain(): Promise<number>;
}

/** Looks for work at least this often, in milliseconds: what another node put in and could not tell of is found by it. */
const longestPause = 60_000;
const afterFailure = 5_000;
/** What is due and was not to be had is in another node's hands at this moment, in milliseconds. */
const shortestPause = 250;

/** The loop: claims as much as may be worked on at once, and sleeps until something falls due. */
export function createWorker(parts: WorkerParts): Worker {
  const { host, claims } = parts;
  const state = { isStarted: false, isStopping: false, again: false };
  let filling: Promise<void> | null = null;
  const hands = createInFlightItems({
    ...parts,
    ended: () => {
      wake();
    },
  });
  const takeOne = createClaimer(parts, { begin: hands.begin, isStopping: () => state.isStopping });
  const isFull = async (): Promise<boolean> => state.isStopping || hands.size >= (await parts.concurrency());

  const alarm = createAlarm(host.clock, () => {
    wake();
  });

  async function fill(): Promise<void> {
    alarm.clear();
    do {
      state.again = false;
      try {
        while (!(await isFull()) && (await takeOne()));
        if (!(await isFull())) await rest();
      } catch (error) {
        host.log.warn('The queue of automations could not be read; trying again.', { error });
        alarm.set(afterFailure);
      }
    } while (state.again);
  }

  /** Until something falls due. What is full is woken by the next end. */
  async function rest(): Promise<void> {
    if (!state.isStarted) return;
    const wait = await claims.nextDue(await typesOf(parts));
    alarm.set(Math.min(longestPause, Math.max(shortestPause, (wait ?? longestPause) + 1)));
  }

  // Woken inside somebody's transaction, which the work must not take part in.
  const lookApart = AsyncResource.bind((): Promise<void> => {
    state.again = true;
    filling ??= fill().finally(() => {
      filling = null;
    });
    return filling;
  }) as () => Promise<void>;

  function wake(): void {
    if (state.isStarted && !state.isStopping) void lookApart();
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
      await filling;
      alarm.clear();
      await hands.stop();
    },
    wake,
    abandon: hands.abandon,
    async drain() {
      const before = hands.begun;
      for (;;) {
        await lookApart();
        if (hands.size === 0 || state.isStopping) return hands.begun - before;
        await hands.next();
      }
    },
  };
}

/** One timer at a time. */
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

async function typesOf({ types }: Pick<WorkerParts, 'types'>): Promise<string[]> {
  return (await types.list()).map(({ id }) => id);
}

/** Claims the next item that is due, tasks in turn, and begins it. Answers false when there is none. */
function createClaimer(
  parts: WorkerParts,
  {
    begin,
    isStopping,
  }: { readonly begin: (item: Job['item'], task: Task, type: Job['type']) => void; readonly isStopping: () => boolean },
): () => Promise<boolean> {
  const { claims, types } = parts;
  let lastTask = 0;
  return async () => {
    const known = await typesOf(parts);
    const item = known.length === 0 ? null : await claims.claim(known, lastTask);
    if (item === null) return false;
    lastTask = item.taskId;
    const task = await parts.task(item.taskId);
    const type = task === null ? undefined : await types.get(task.type);
    // Deleted, or its plugin switched off, between the claim and now.
    if (task === null || type === undefined || isStopping()) await claims.release(item);
    else begin(item, task, type);
    return true;
  };
}
