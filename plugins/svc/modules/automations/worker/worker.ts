import { AsyncResource } from 'node:async_hooks';
import type { HostApi, Undo } from '#plugin-api';
import { leaseBeat, leaseTime, type Claims } from '../queue/claims.ts';
import type { ClaimedItem } from '../queue/item.ts';
import type { TaskTypes } from '../tasks/task-types.ts';
import type { Task } from '../tasks/task.ts';
import type { GivenUp, Job } from './attempt.ts';

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
  /** Begins to work in the background. */
  start(): void;
  /** Takes nothing new, lets what is under way end for a moment, then gives it back. */
  stop(): Promise<void>;
  /** There may be something to do. */
  wake(): void;
  /** Gives up these items, should they be under way here: they are not this process's any more. */
  giveUp(ids: readonly number[]): void;
  /** Works until nothing is due. Answers how many attempts were made. */
  drain(): Promise<number>;
  readonly isStarted: boolean;
}

interface Running {
  readonly item: ClaimedItem;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Looks for work at least this often, in milliseconds: what another node put in and could not tell of is found by it. */
const longestPause = 60_000;
const afterFailure = 5_000;
/** Milliseconds that work under way has to end by itself at a stop. */
const grace = 4_000;

/** The loop: claims as much as may be worked on at once, keeps the leases, and sleeps until something falls due. */
export function createWorker(parts: WorkerParts): Worker {
  const { host, claims, types } = parts;
  const running = new Map<number, Running>();
  let isStarted = false;
  let isStopping = false;
  let filling: Promise<void> | null = null;
  let again = false;
  let timer: Undo | null = null;
  let beats: Undo | null = null;
  let lastTask = 0;
  let made = 0;

  const keeper = createKeeper({ ...parts, running });

  async function take(): Promise<boolean> {
    if (isStopping || running.size >= (await parts.concurrency())) return false;
    const known = (await types.list()).map(({ id }) => id);
    const item = known.length === 0 ? null : await claims.claim(known, lastTask);
    if (item === null) return false;
    lastTask = item.taskId;
    const [task, type] = await Promise.all([parts.task(item.taskId), parts.task(item.taskId).then((found) => (found === null ? undefined : types.get(found.type)))]);
    // Deleted, or its plugin switched off, between the claim and now.
    if (task === null || type === undefined || isStopping) await claims.release(item);
    else begin(item, task, type);
    return true;
  }

  function begin(item: ClaimedItem, task: Task, type: Job['type']): void {
    const controller = new AbortController();
    made += 1;
    const done = parts.attempt({ item, task, type, signal: controller.signal }).finally(() => {
      running.delete(item.id);
      if (running.size === 0) quiet();
      wake();
    });
    running.set(item.id, { item, controller, done });
    if (beats !== null) return;
    keeper.begin();
    beats = host.clock.every(leaseBeat, () => void keeper.beat());
  }

  function quiet(): void {
    beats?.();
    beats = null;
  }

  async function fill(): Promise<void> {
    timer?.();
    timer = null;
    do {
      again = false;
      try {
        while (await take());
        await rest();
      } catch (error) {
        host.log.warn('The queue of automations could not be read; trying again.', { error });
        pause(afterFailure);
      }
    } while (again);
  }

  /** Until something falls due. What is full is woken by the next end. */
  async function rest(): Promise<void> {
    if (!isStarted || isStopping || running.size >= (await parts.concurrency())) return;
    const wait = await claims.nextDue((await types.list()).map(({ id }) => id));
    // Due already: another node has it in its hands at this moment.
    pause(wait === null ? longestPause : Math.min(longestPause, Math.max(250, wait + 1)));
  }

  function pause(milliseconds: number): void {
    timer?.();
    timer = isStarted && !isStopping ? host.clock.after(milliseconds, wakeApart) : null;
  }

  function look(): Promise<void> {
    again = true;
    filling ??= fill().finally(() => {
      filling = null;
    });
    return filling;
  }

  // Woken inside somebody's transaction, which the work must not take part in.
  const lookApart = AsyncResource.bind(look);
  const wakeApart = (): void => void lookApart();
  const wake = (): void => {
    if (isStarted && !isStopping) wakeApart();
  };

  return {
    get isStarted() {
      return isStarted;
    },
    start() {
      isStarted = true;
      wake();
    },
    async stop() {
      isStopping = true;
      timer?.();
      await filling;
      const ended = new AbortController();
      const all = Promise.all([...running.values()].map(({ done }) => done)).then(() => { ended.abort(); });
      await Promise.race([all, host.clock.sleep(grace, ended.signal).catch(() => undefined)]);
      for (const { controller } of running.values()) controller.abort('stop' satisfies GivenUp);
      await Promise.all([...running.values()].map(({ done }) => done));
      quiet();
    },
    wake,
    giveUp(ids) {
      for (const id of ids) running.get(id)?.controller.abort('lost' satisfies GivenUp);
    },
    async drain() {
      const before = made;
      for (;;) {
        await lookApart();
        if (running.size === 0 || isStopping) return made - before;
        await Promise.race([...running.values()].map(({ done }) => done));
      }
    },
  };
}

/** Lengthens the leases of what is under way; what was lost, or could not be lengthened for too long, is given up. */
function createKeeper({ host, claims, elapsed, running }: WorkerParts & { readonly running: ReadonlyMap<number, Running> }): { begin(): void; beat(): Promise<void> } {
  let beatAt = elapsed();
  let isBeating = false;
  const giveUp = (isLost: (item: ClaimedItem) => boolean): void => {
    for (const { item, controller } of running.values()) if (isLost(item)) controller.abort('lost' satisfies GivenUp);
  };
  async function beat(): Promise<void> {
    if (isBeating) return;
    isBeating = true;
    const begun = elapsed();
    const asked = [...running.values()].map(({ item }) => item);
    try {
      const held = await claims.extend(asked);
      beatAt = begun;
      giveUp((item) => asked.includes(item) && !held.has(item.id));
    } catch (error) {
      host.log.warn('The leases of automations could not be lengthened; trying again.', { error });
      if (elapsed() - beatAt > leaseTime + leaseBeat) giveUp(() => true);
    } finally {
      isBeating = false;
    }
  }

  return { begin: () => void (beatAt = elapsed()), beat };
}
