import { AsyncLocalStorage } from 'node:async_hooks';
import type { Hook } from './callbacks.ts';

/** Runs inside runs beyond this are taken for a hook that runs itself for ever. */
export const deepestNesting = 500;

/** A hook started itself, directly or through others, again and again. Actions do not swallow it while they are nested. */
export class HookCycleError extends Error {
  override readonly name = 'HookCycleError';
}

interface Running {
  readonly hook: Hook;
  readonly priority: number | null;
}

/** An asynchronous run. It is found again in every continuation of its callbacks. */
export interface Frame {
  readonly hook: Hook;
  /** Priority it is at; null before the first callback. */
  priority: number | null;
  /** The nearest run around it that had not ended when it began, of any world of hooks. */
  readonly parent: Frame | null;
  /** The world of hooks it belongs to. */
  readonly world: symbol;
  /** How many runs of its world it is inside, itself included. */
  readonly depth: number;
  ended: boolean;
}

/**
 * The synchronous runs under way, in arrays of numbers: writing one costs a run next to nothing, while each reference to
 * an object would have to be told to the garbage collector. What lies above the innermost is left over from earlier runs.
 */
export interface RunStack {
  /** How many there are, then the id of each one's hook, outermost first. */
  readonly state: Int32Array;
  /** The priority each is at; NaN before its first callback. */
  readonly priorities: Float64Array;
  /** The error of a run that would come to stand too deep. */
  overflow(hook: Hook): HookCycleError;
}

export interface HookContext {
  readonly stack: RunStack;
  /** Notes that `hook` runs synchronously, at a priority or before its first; answers its level, to be handed to `reach` and `leave`. */
  enter(hook: Hook, priority?: number): number;
  /** Notes the priority a synchronous run is at. */
  reach(level: number, priority: number): void;
  leave(level: number): void;
  /** Runs `work` as an asynchronous run of `hook`, until its promise settles. */
  runAsync<Result>(hook: Hook, work: (frame: Frame) => Promise<Result>): Promise<Result>;
  /** Whether more than one run is under way here. */
  nested(): boolean;
  current(): string | false;
  doing(name?: string): boolean;
  /** Priority the outermost run of the hook is at, or false. */
  priority(name: string): number | false;
}

/** One for all worlds: a storage in use slows every promise of the process. */
const storage = new AsyncLocalStorage<Frame>();

/** Asynchronous runs that have not ended, of all worlds. With the last of them the storage is switched off again. */
let runsUnderWay = 0;

/**
 * Knows which hooks are running. What runs synchronously stands on one stack, since nothing else can run meanwhile;
 * AsyncLocalStorage, which slows every promise of the process while it is on, only carries asynchronous runs into
 * their continuations, and is on only while one that has a callback is under way.
 *
 * @param byId every hook at its id.
 */
export function createHookContext(byId: readonly Hook[]): HookContext {
  const world = Symbol('hooks');
  const state = new Int32Array(1 + deepestNesting);
  const priorities = new Float64Array(deepestNesting);
  const stack: RunStack = { state, priorities, overflow: (hook) => cycleError(underWay(), hook) };
  const levels = (): number => state[0] as number;
  const hookAt = (level: number): Hook => byId[state[1 + level] as number] as Hook;

  const innermost = (from: Frame | null = storage.getStore() ?? null): Frame | null => {
    let frame = from;
    while (frame && (frame.ended || frame.world !== world)) frame = frame.parent;
    return frame;
  };
  /** Outermost first. The synchronous beginning of an asynchronous run stands on the stack as well. */
  const underWay = (): Running[] => {
    const list: Running[] = [];
    for (let frame = innermost(); frame; frame = innermost(frame.parent)) list.unshift(frame);
    for (let level = 0; level < levels(); level += 1)
      list.push({ hook: hookAt(level), priority: priorityOf(priorities[level] as number) });
    return list;
  };
  const enter = (hook: Hook, priority = Number.NaN): number => {
    const level = state[0] as number;
    if (level >= deepestNesting) throw stack.overflow(hook);
    state[1 + level] = hook.id;
    priorities[level] = priority;
    state[0] = level + 1;
    return level;
  };

  return {
    stack,
    enter,
    reach(level, priority) {
      priorities[level] = priority;
    },
    leave(level) {
      state[0] = level;
    },
    async runAsync(hook, work) {
      let parent = storage.getStore() ?? null;
      while (parent?.ended) parent = parent.parent;
      const depth = (innermost()?.depth ?? 0) + 1;
      if (depth > deepestNesting || levels() >= deepestNesting) throw cycleError(underWay(), hook);
      const frame: Frame = { hook, priority: null, parent, world, depth, ended: false };
      runsUnderWay += 1;
      try {
        return await storage.run(frame, work, frame);
      } finally {
        frame.ended = true;
        runsUnderWay -= 1;
        // Nothing is lost: only frames that have ended are left to be found. A fifth of the requests a node can serve is won.
        if (runsUnderWay === 0) storage.disable();
      }
    },
    nested: () => levels() + (innermost()?.depth ?? 0) > 1,
    current: () => (levels() > 0 ? hookAt(levels() - 1).name : (innermost()?.hook.name ?? false)),
    doing: (name) => {
      if (name === undefined) return levels() > 0 || innermost() !== null;
      return underWay().some((run) => run.hook.name === name);
    },
    priority: (name) => underWay().find((run) => run.hook.name === name && run.priority !== null)?.priority ?? false,
  };
}

function priorityOf(noted: number): number | null {
  return Number.isNaN(noted) ? null : noted;
}

function cycleError(runs: readonly Running[], hook: Hook): HookCycleError {
  const chain = [hook.name];
  for (const run of [...runs].reverse()) {
    chain.unshift(run.hook.name);
    if (run.hook === hook) break;
  }
  const owners = [...new Set(hook.entries.map((entry) => entry.owner))];
  return new HookCycleError(
    `The hook '${hook.name}' was started ${deepestNesting} runs deep and was stopped: ${chain.join(' > ')}. ` +
      `One of its callbacks (of ${owners.join(', ')}) starts it again; let it remove itself first, or not call at all.`,
  );
}
