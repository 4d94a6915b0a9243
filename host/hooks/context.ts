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

export interface HookContext {
  /** Notes that `hook` runs synchronously, at a priority or before its first; answers its level, to be handed to `reach` and `leave`. */
  enter(hook: Hook, priority?: number | null): number;
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
 */
export function createHookContext(): HookContext {
  const world = Symbol('hooks');
  const hooks: Hook[] = [];
  const priorities: (number | null)[] = [];
  let levels = 0;

  const innermost = (from: Frame | null = storage.getStore() ?? null): Frame | null => {
    let frame = from;
    while (frame && (frame.ended || frame.world !== world)) frame = frame.parent;
    return frame;
  };
  /** Outermost first. The synchronous beginning of an asynchronous run stands on the stack as well. */
  const underWay = (): Running[] => {
    const list: Running[] = [];
    for (let frame = innermost(); frame; frame = innermost(frame.parent)) list.unshift(frame);
    for (let level = 0; level < levels; level += 1) list.push({ hook: hooks[level] as Hook, priority: priorities[level] ?? null });
    return list;
  };
  const enter = (hook: Hook, priority: number | null = null): number => {
    const level = levels;
    if (level >= deepestNesting) throw cycleError(underWay(), hook);
    hooks[level] = hook;
    priorities[level] = priority;
    levels = level + 1;
    return level;
  };

  return {
    enter,
    reach(level, priority) {
      priorities[level] = priority;
    },
    leave(level) {
      levels = level;
    },
    async runAsync(hook, work) {
      let parent = storage.getStore() ?? null;
      while (parent?.ended) parent = parent.parent;
      const depth = (innermost()?.depth ?? 0) + 1;
      if (depth > deepestNesting || levels >= deepestNesting) throw cycleError(underWay(), hook);
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
    nested: () => levels + (innermost()?.depth ?? 0) > 1,
    current: () => (levels > 0 ? (hooks[levels - 1] as Hook).name : (innermost()?.hook.name ?? false)),
    doing: (name) => {
      if (name === undefined) return levels > 0 || innermost() !== null;
      return underWay().some((run) => run.hook.name === name);
    },
    priority: (name) => underWay().find((run) => run.hook.name === name && run.priority !== null)?.priority ?? false,
  };
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
