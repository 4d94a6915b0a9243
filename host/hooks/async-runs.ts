import { beginRun, invoke, isThenable, nextEntry } from './callbacks.ts';
import type { Entry, Hook } from './callbacks.ts';
import type { Frame, HookContext } from './context.ts';
import type { Failures } from './failures.ts';
import type { FilterGuard } from './filter-guard.ts';

export interface AsyncRuns {
  /** Runs the callbacks of a filter in order; `args[0]` is the value and is replaced by each result. */
  filter(hook: Hook, args: unknown[], caller: string): Promise<unknown>;
  action(hook: Hook, args: readonly unknown[], caller: string): Promise<void>;
}

interface AsyncRunsDependencies {
  /** The hook `all`, whose callbacks run first, with the hook's name before the arguments. */
  readonly all: Hook;
  readonly context: HookContext;
  readonly failures: Failures;
  readonly guard: FilterGuard;
}

/** Asynchronous runs: the same order and rules, awaiting only callbacks that return a thenable. */
export function createAsyncRuns({ all, context, failures, guard }: AsyncRunsDependencies): AsyncRuns {
  /** A callback is synchronous up to its first await, so it is on the stack of synchronous runs. */
  const start = (frame: Frame, entry: Entry, args: readonly unknown[]): unknown => {
    frame.priority = entry.priority;
    const level = context.enter(frame.hook);
    context.reach(level, entry.priority);
    try {
      return invoke(entry, args);
    } finally {
      context.leave(level);
    }
  };
  const observe = async (frame: Frame, args: readonly unknown[]): Promise<void> => {
    const cursor = beginRun(all);
    for (let entry = nextEntry(cursor); entry; entry = nextEntry(cursor)) {
      const result = start(frame, entry, args);
      if (isThenable(result)) await result;
    }
  };
  const act = async (callbacks: Hook, frame: Frame, args: readonly unknown[]): Promise<void> => {
    const cursor = beginRun(callbacks);
    for (let entry = nextEntry(cursor); entry; entry = nextEntry(cursor)) {
      try {
        const result = start(frame, entry, args);
        if (isThenable(result)) await result;
      } catch (error) {
        failures.isolate(callbacks, entry, error);
      }
    }
  };
  const observed = (hook: Hook): boolean => all.entries.length > 0 && hook !== all;

  return {
    filter: (hook, args, caller) =>
      context.runAsync(hook, caller, async (frame) => {
        if (observed(hook)) await observe(frame, [hook.name, ...args]);
        const cursor = beginRun(hook);
        for (let entry = nextEntry(cursor); entry; entry = nextEntry(cursor)) {
          try {
            const result = start(frame, entry, args);
            args[0] = guard.settleAwaited(entry, args[0], isThenable(result) ? await result : result);
          } catch (error) {
            failures.note(entry, error);
            if (!guard.survives(entry, error)) throw error;
          }
        }
        return args[0];
      }),
    action: (hook, args, caller) =>
      context.runAsync(hook, caller, async (frame) => {
        if (observed(hook)) await act(all, frame, [hook.name, ...args]);
        await act(hook, frame, args);
      }),
  };
}
