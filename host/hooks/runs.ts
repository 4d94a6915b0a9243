import type { AnyCallback } from '#plugin-api';
import { compileAfter, compileRun } from './compiled-run.ts';
import { beginRun, invoke, isThenable, nextEntry } from './callbacks.ts';
import type { Cursor, Entry, Group, Hook } from './callbacks.ts';
import type { HookContext } from './context.ts';
import type { Failures } from './failures.ts';
import type { FilterGuard } from './filter-guard.ts';

export interface Runs {
  /** Runs the callbacks of a filter; the first argument is the value and is replaced by each result. */
  filter(hook: Hook, ...args: unknown[]): unknown;
  /** The same for a value without further arguments. */
  filterValue(hook: Hook, value: unknown): unknown;
  action(hook: Hook, args: readonly unknown[]): void;
}

interface RunsDependencies {
  /** The hook `all`, whose callbacks run first, with the hook's name before the arguments. */
  readonly all: Hook;
  readonly context: HookContext;
  readonly failures: Failures;
  readonly guard: FilterGuard;
}

/** Notes the error of a callback. Returns where the run goes on without it, and throws the error elsewhere. */
const createRecover =
  ({ failures, guard }: Pick<RunsDependencies, 'failures' | 'guard'>) =>
  (entry: Entry, error: unknown): void => {
    failures.note(entry, error);
    if (!guard.survives(entry, error)) throw error;
  };

/** Synchronous runs. */
export function createRuns(dependencies: RunsDependencies): Runs {
  const { all, context, guard } = dependencies;
  const recover = createRecover(dependencies);
  const { observe, act, filterFrom } = createLoops(dependencies);
  const throughGroups = createGroupLoop(dependencies, filterFrom);

  const runs: Runs = {
    filterValue(hook, value) {
      const { groups } = hook;
      if (all.entries.length > 0 || groups === null) return runs.filter(hook, value);
      hook.runs += 1;
      if (hook.runs === compileAfter)
        hook.compiled = compileRun(hook, {
          ...{ stack: context.stack, settle: guard.settle, recover },
          resume: (position, level, value) => filterFrom({ ...position }, level, [value]),
        });
      return throughGroups(hook, groups, value);
    },
    filter(hook, ...args) {
      const level = context.enter(hook);
      try {
        if (all.entries.length > 0 && hook !== all) observe(level, [hook.name, ...args]);
        return filterFrom(beginRun(hook), level, args);
      } finally {
        context.leave(level);
      }
    },
    action(hook, args) {
      const level = context.enter(hook);
      try {
        if (all.entries.length > 0 && hook !== all) act(all, level, [hook.name, ...args]);
        act(hook, level, args);
      } finally {
        context.leave(level);
      }
    },
  };
  return runs;
}

/**
 * The fast path for the common filter with a value and no further arguments. When a callback is added or removed during
 * the run, the general loop takes over.
 */
function createGroupLoop(
  { context, failures, guard }: Pick<RunsDependencies, 'context' | 'failures' | 'guard'>,
  filterFrom: Loops['filterFrom'],
) {
  const recover = createRecover({ failures, guard });
  return (hook: Hook, groups: readonly Group[], start: unknown): unknown => {
    const { entries, generation, version } = hook;
    const level = context.enter(hook, (groups[0] as Group).priority);
    let value = start;
    let position = 0;
    try {
      for (let each = 0; each < groups.length; each += 1) {
        const { priority, callbacks, first } = groups[each] as Group;
        if (each > 0) context.reach(level, priority);
        for (let index = 0; index < callbacks.length; index += 1) {
          const callback = callbacks[index] as AnyCallback;
          position = first + index;
          const result = callback(value);
          value = isPlain(result) ? result : guard.settle(entries[position] as Entry, value, result);
          if (hook.version !== version)
            return filterFrom({ hook, generation, version, entries, index: position + 1 }, level, [value]);
        }
      }
      return value;
    } catch (error) {
      recover(entries[position] as Entry, error);
      return filterFrom({ hook, generation, version, entries, index: position + 1 }, level, [value]);
    } finally {
      context.leave(level);
    }
  };
}

/** Whether any filter can have this value: no object, which might be a promise, and not undefined. */
function isPlain(result: unknown): boolean {
  return typeof result === 'string' || typeof result === 'number' || typeof result === 'boolean';
}

interface Loops {
  /** Runs a filter from the cursor to the end, by the rules for callbacks added or removed during the run. */
  filterFrom(cursor: Cursor, level: number, args: unknown[]): unknown;
  /** Runs the callbacks of `all` for a filter. Their errors reach the filter's caller, like any error in a filter. */
  observe(level: number, args: readonly unknown[]): void;
  act(callbacks: Hook, level: number, args: readonly unknown[]): void;
}

function createLoops({ all, context, failures, guard }: RunsDependencies): Loops {
  const recover = createRecover({ failures, guard });
  const filterFrom: Loops['filterFrom'] = (cursor, level, args) => {
    for (let entry = nextEntry(cursor); entry; entry = nextEntry(cursor)) {
      context.reach(level, entry.priority);
      try {
        const result = invoke(entry, args);
        args[0] = isPlain(result) ? result : guard.settle(entry, args[0], result);
      } catch (error) {
        recover(entry, error);
      }
    }
    return args[0];
  };
  /** A synchronous run does not await promises; a rejection must not end the process. */
  const watch = (result: unknown, callbacks: Hook, entry: Entry): void => {
    if (isThenable(result)) result.then(undefined, (error: unknown) => failures.report(callbacks, entry, error));
  };
  const observe: Loops['observe'] = (level, args) => {
    const cursor = beginRun(all);
    for (let entry = nextEntry(cursor); entry; entry = nextEntry(cursor)) {
      context.reach(level, entry.priority);
      watch(invoke(entry, args), all, entry);
    }
  };
  const act: Loops['act'] = (callbacks, level, args) => {
    const cursor = beginRun(callbacks);
    for (let entry = nextEntry(cursor); entry; entry = nextEntry(cursor)) {
      context.reach(level, entry.priority);
      try {
        const result = invoke(entry, args);
        if (result !== undefined) watch(result, callbacks, entry);
      } catch (error) {
        failures.isolate(callbacks, entry, error);
      }
    }
  };
  return { filterFrom, observe, act };
}
