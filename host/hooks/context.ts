import { AsyncLocalStorage } from 'node:async_hooks';
import type { Hook } from './callbacks.ts';

/** Deeper nesting counts as a hook that runs itself endlessly. */
export const maxNesting = 500;

/** A hook ran itself repeatedly, directly or through other hooks. Nested actions rethrow it. */
export class HookCycleError extends Error {
  override readonly name = 'HookCycleError';
}

interface Running {
  readonly hook: Hook;
  readonly priority: number | null;
}

/** An asynchronous run, available in every continuation of its callbacks. */
export interface Frame {
  readonly hook: Hook;
  /** Slug of the plugin that runs it. */
  readonly caller: string;
  /** Current priority; null before the first callback. */
  priority: number | null;
  /** The innermost enclosing run that had not ended when it started, of any hooks instance. */
  readonly parent: Frame | null;
  /** Its hooks instance. */
  readonly instance: symbol;
  /** Nesting depth within its hooks instance, including itself. */
  readonly depth: number;
  ended: boolean;
}

/**
 * The synchronous runs in progress, in typed arrays: writing a number is nearly free, while each object reference costs a
 * write barrier. Entries above the innermost run are stale.
 */
export interface RunStack {
  /**
   * The number of runs, then the hook id of each, outermost first. The complement of an id (`~id`): a compiled run at its
   * first priority, which it need not write.
   */
  readonly state: Int32Array;
  /** The current priority of each; NaN before its first callback. */
  readonly priorities: Float64Array;
  /** The error for a run that exceeds the maximum nesting. */
  overflow(hook: Hook): HookCycleError;
}

export interface HookContext {
  readonly stack: RunStack;
  /** Records a synchronous run of `hook`. Returns its level, for `reach` and `leave`. */
  enter(hook: Hook, priority?: number): number;
  /** Records the current priority of a synchronous run. */
  reach(level: number, priority: number): void;
  leave(level: number): void;
  /** Runs `work` as an asynchronous run of `hook`, until its promise settles. */
  runAsync<Result>(hook: Hook, caller: string, work: (frame: Frame) => Promise<Result>): Promise<Result>;
  /** Whether more than one run is in progress in this context. */
  nested(): boolean;
  current(): string | false;
  /** Who runs the innermost hook; null for a synchronous run. */
  caller(): string | null;
  doing(name?: string): boolean;
  /** Current priority of the hook's outermost run, or false. */
  priority(name: string): number | false;
}

/** Shared by all instances. */
const storage = new AsyncLocalStorage<Frame>();

/**
 * Tracks which hooks are running: synchronous runs on one stack, since nothing else can run meanwhile, and asynchronous ones
 * by AsyncLocalStorage.
 *
 * @param byId hooks by id.
 */
export function createHookContext(byId: readonly Hook[]): HookContext {
  const instance = Symbol('hooks');
  const state = new Int32Array(1 + maxNesting);
  const priorities = new Float64Array(maxNesting);
  const stack: RunStack = { state, priorities, overflow: (hook) => cycleError(runningHooks(), hook) };
  const levels = (): number => state[0] as number;
  const hookAt = (level: number): Hook =>
    byId[Math.max(state[1 + level] as number, ~(state[1 + level] as number))] as Hook;
  const priorityAt = (level: number): number | null =>
    (state[1 + level] as number) < 0 ? hookAt(level).firstPriority : toPriority(priorities[level] as number);

  const innermost = (from: Frame | null = storage.getStore() ?? null): Frame | null => {
    let frame = from;
    while (frame && (frame.ended || frame.instance !== instance)) frame = frame.parent;
    return frame;
  };
  /** Outermost first. The synchronous start of an asynchronous run is on the stack too. */
  const runningHooks = (): Running[] => {
    const list: Running[] = [];
    for (let frame = innermost(); frame; frame = innermost(frame.parent)) list.unshift(frame);
    for (let level = 0; level < levels(); level += 1) list.push({ hook: hookAt(level), priority: priorityAt(level) });
    return list;
  };
  const enter = (hook: Hook, priority = Number.NaN): number => {
    const level = state[0] as number;
    if (level >= maxNesting) throw stack.overflow(hook);
    state[1 + level] = hook.id;
    priorities[level] = priority;
    state[0] = level + 1;
    return level;
  };

  return {
    stack,
    enter,
    reach(level, priority) {
      const id = state[1 + level] as number;
      if (id < 0) state[1 + level] = ~id;
      priorities[level] = priority;
    },
    leave(level) {
      state[0] = level;
    },
    async runAsync(hook, caller, work) {
      let parent = storage.getStore() ?? null;
      while (parent?.ended) parent = parent.parent;
      const depth = (innermost()?.depth ?? 0) + 1;
      if (depth > maxNesting || levels() >= maxNesting) throw cycleError(runningHooks(), hook);
      const frame: Frame = { hook, caller, priority: null, parent, instance, depth, ended: false };
      try {
        return await storage.run(frame, work, frame);
      } finally {
        frame.ended = true;
      }
    },
    nested: () => levels() + (innermost()?.depth ?? 0) > 1,
    current: () => (levels() > 0 ? hookAt(levels() - 1).name : (innermost()?.hook.name ?? false)),
    caller: () => {
      const frame = innermost();
      return frame === null || (levels() > 0 && hookAt(levels() - 1) !== frame.hook) ? null : frame.caller;
    },
    doing: (name) => {
      if (name === undefined) return levels() > 0 || innermost() !== null;
      return runningHooks().some((run) => run.hook.name === name);
    },
    priority: (name) =>
      runningHooks().find((run) => run.hook.name === name && run.priority !== null)?.priority ?? false,
  };
}

function toPriority(recorded: number): number | null {
  return Number.isNaN(recorded) ? null : recorded;
}

function cycleError(runs: readonly Running[], hook: Hook): HookCycleError {
  const chain = [hook.name];
  for (const run of [...runs].reverse()) {
    chain.unshift(run.hook.name);
    if (run.hook === hook) break;
  }
  const owners = [...new Set(hook.entries.map((entry) => entry.owner))];
  return new HookCycleError(
    `The hook '${hook.name}' was stopped after ${maxNesting} nested runs: ${chain.join(' > ')}. ` +
      `One of its callbacks (of ${owners.join(', ')}) runs it again; remove the callback before that call, or avoid the call.`,
  );
}
