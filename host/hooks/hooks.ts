import type { AnyCallback, HookOptions, HooksApi, Logger, NamespacedHooks, Undo } from '#plugin-api';
import {
  noteAddedAt,
  everyArgument,
  noEntries,
  observer,
  type Hook,
  type HookKind,
  beginRun,
  invoke,
  isThenable,
  nextEntry,
  type Entry,
} from './callbacks.ts';
import { createHookContext, type Frame, type HookContext } from './context.ts';
import { createFailures, createRepeats, type FailureListener, type Failures } from './failures.ts';
import { createFilterGuard, noGuard, type TolerantFilters, type FilterGuard } from './filter-guard.ts';
import { withNamespaces } from './namespaced.ts';
import { createRegistry, type HookDescription, type Registry } from './registry.ts';
import { createRuns } from './runs.ts';

export { HookCycleError } from './context.ts';
export type { FailureListener, HookFailure } from './failures.ts';
export type { HookDescription } from './registry.ts';

export interface HooksInit {
  readonly log?: Pick<Logger, 'error'>;
  readonly guardsFilters?: boolean;
}

/** The hooks of a process: the public interface, and what the host itself needs. */
export interface Hooks extends HooksApi {
  /** The same hooks; callbacks added through it belong to `owner`. */
  forOwner(owner: string): HooksApi;
  /** Removes all callbacks of the owner. Runs in progress skip them. */
  removeOwner(owner: string): void;
  /** As `applyFiltersAsync`, but returns the value itself if no callback may return a promise: a promise takes as long as a run. */
  applyFiltersMaybeAsync(name: string, ...args: unknown[]): unknown;
  /** `hooks` under the signatures of @wordpress/hooks. */
  withNamespaces(hooks: HooksApi): NamespacedHooks;
  /** How often callbacks were added or removed: the same number as before means the same callbacks. */
  changes(): number;
  /** Every hook that ran or has callbacks, sorted by name. */
  describe(): HookDescription[];
  /** Current priority of the hook's outermost run, or false when it is not running. */
  currentPriority(name: string): number | false;
  /** Logs the error of a filter whose caller goes on without its value, with the plugin that it came from. */
  reportFilterFailure(hook: string, error: unknown): void;
  /**
   * Calls the listener for each callback that throws: in an action after the error is logged, in a filter before it reaches
   * the caller. Also for each callback whose result was refused.
   */
  onFailure(listener: FailureListener): Undo;
}

/**
 * Filters and actions; the contract is HooksApi. Each call creates a separate instance, owned by `host`.
 *
 * A run nested 500 levels deep throws a HookCycleError that shows the chain.
 *
 * @param init `log` logs errors of actions; default: the console. `guardsFilters`: a filter keeps its value where a callback returns
 *   nothing, or a promise to a synchronous run (see README.md); default false, as WordPress and `@wordpress/hooks`.
 */
export function createHooks({ log, guardsFilters = false }: HooksInit = {}): Hooks {
  const registry = createRegistry(() => !context.doing());
  const { byName, recent } = registry;
  const listeners = new Set<FailureListener>();
  const context = createHookContext(registry.byId);
  const failures = createFailures({ context, log, listeners });
  const countRepeats = createRepeats();
  const all = registry.find('all');
  const tolerant: TolerantFilters = new Set();
  const guard = guardsFilters ? createFilterGuard(failures, tolerant) : noGuard;
  const runs = createRuns({ all, context, failures, guard });
  const asyncRuns = createAsyncRuns({ all, context, failures, guard });
  const idle = (hook: Hook): boolean => hook.entries === noEntries && all.entries === noEntries;

  const ownersOf = (name: string): string[] => [...new Set(byName.get(name)?.entries.map(({ owner }) => owner))];

  const shared = {
    removeFilter: registry.remove,
    removeAction: registry.remove,
    removeAllFilters: registry.removeAll,
    removeAllActions: registry.removeAll,
    applyFilters(name: string, value: unknown, ...rest: unknown[]): unknown {
      let hook = recent[name.length & 31] as Hook;
      if (hook.name !== name) hook = registry.findRecent(name);
      hook.filtersApplied += 1;
      const { compiled } = hook;
      const isFast = rest.length === 0 && observer === null;
      if (isFast && compiled !== null) return compiled(value);
      if (idle(hook)) return value;
      return isFast ? runs.filterValue(hook, value) : runs.filter(hook, value, ...rest);
    },
    doAction(name: string, ...args: unknown[]): void {
      const hook = countRun(registry.find(name), 'actionsDone');
      if (!idle(hook)) runs.action(hook, args);
    },
    hasFilter: registry.has,
    hasAction: registry.has,
    keepValueOnError(names: readonly string[]): void {
      for (const name of names) tolerant.add(name);
    },
    owners: ownersOf,
    didFilter: (name: string) => byName.get(name)?.filtersApplied ?? 0,
    didAction: (name: string) => byName.get(name)?.actionsDone ?? 0,
    currentHook: context.current,
    currentCaller: context.caller,
    doingHook: context.doing,
  };
  const filterMaybeAsync = (owner: string, name: string, args: unknown[]): unknown => {
    const hook = countRun(registry.find(name), 'filtersApplied');
    if (idle(hook)) return args[0];
    return hook.isSynchronous && all.entries === noEntries
      ? runs.filter(hook, ...args)
      : asyncRuns.filter(hook, args, owner);
  };
  // The generic signatures of HooksApi are for callers; internally, names and values are unknown.
  const forOwner = (owner: string): HooksApi =>
    ({
      ...shared,
      addFilter: createAdder(registry, owner, 'filter'),
      addAction: createAdder(registry, owner, 'action'),
      async applyFiltersAsync(name: string, ...args: unknown[]): Promise<unknown> {
        return filterMaybeAsync(owner, name, args);
      },
      async doActionAsync(name: string, ...args: unknown[]): Promise<void> {
        const hook = countRun(registry.find(name), 'actionsDone');
        if (!idle(hook)) await asyncRuns.action(hook, args, owner);
      },
    }) as unknown as HooksApi;

  return {
    ...forOwner('host'),
    forOwner,
    applyFiltersMaybeAsync: (name, ...args) => filterMaybeAsync('host', name, args),
    removeOwner: registry.removeOwner,
    withNamespaces,
    changes: registry.changes,
    describe: registry.describe,
    currentPriority: context.priority,
    reportFilterFailure(hook, error) {
      const culprit = failures.culpritOf(error);
      const times = countRepeats(culprit ?? registry.find(hook), error);
      if (times === null) return;
      log?.error(`The filter '${hook}' failed; its value was not used`, {
        ...{ event: 'hook_filter_failed', hook, times },
        plugin: culprit?.owner ?? ownersOf(hook).join(', '),
        error,
      });
    },
    onFailure(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function createAdder(registry: Pick<Registry, 'add'>, owner: string, kind: HookKind) {
  const addCallback = (name: string, callback: AnyCallback, priority = 10, options: HookOptions = {}): Undo =>
    registry.add(name, {
      callback,
      priority,
      acceptedArgs: options.acceptedArgs ?? everyArgument,
      isSynchronous: options.isSynchronous ?? false,
      owner,
      kind,
      addedAt: noteAddedAt(addCallback),
      hook: name,
      removed: false,
      replacedBy: null,
    });
  return addCallback;
}

function countRun(hook: Hook, counter: 'filtersApplied' | 'actionsDone'): Hook {
  hook[counter] += 1;
  return hook;
}

interface AsyncRuns {
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
function createAsyncRuns({ all, context, failures, guard }: AsyncRunsDependencies): AsyncRuns {
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
