import type { Undo } from './undo.ts';

/**
 * Filters with known types that run synchronously (`applyFilters`), so that a callback must not be async: the promise would
 * be the value. A plugin adds its own by augmentation, as in FilterMap.
 */
export interface SyncFilterMap {}

/**
 * Filters with known types. A plugin adds its own by augmentation:
 * `declare module '#plugin-api' { interface FilterMap { my_filter: (value: string, id: number) => string } }`.
 * Any other string is a valid name too.
 */
export interface FilterMap extends SyncFilterMap {}

/** Actions with known types, augmented like FilterMap: `my_action: (id: number) => void`. */
export interface ActionMap {}

/** The type of callbacks for an undeclared name. Annotate the parameters. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any function must be assignable here; values are unknown to the host.
export type AnyCallback = (...args: any[]) => unknown;

/** A callback may take fewer parameters than declared, and may return a promise unless the filter is in SyncFilterMap. */
export type FilterCallback<Name extends string> = Name extends keyof FilterMap
  ? FilterMap[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Name extends keyof SyncFilterMap ? Result : Result | Promise<Result>
    : AnyCallback
  : AnyCallback;

export type ActionCallback<Name extends string> = Name extends keyof ActionMap
  ? FilterMapArgs<ActionMap[Name]> extends infer Args extends readonly unknown[]
    ? (...args: Args) => unknown
    : AnyCallback
  : AnyCallback;

type FilterMapArgs<Callback> = Callback extends (...args: infer Args) => unknown ? Args : never;
type FilterArgs<Name extends string> = Name extends keyof FilterMap
  ? FilterMapArgs<FilterMap[Name]>
  : [unknown, ...unknown[]];
type ActionArgs<Name extends string> = Name extends keyof ActionMap ? FilterMapArgs<ActionMap[Name]> : unknown[];
type FilterValue<Name extends string, Value> = Name extends keyof FilterMap
  ? FilterMap[Name] extends (...args: never[]) => infer Result
    ? Result
    : never
  : Value;
type RestOf<Args extends readonly unknown[]> = Args extends readonly [unknown, ...infer Rest] ? Rest : [];

export interface HookOptions {
  /** Number of arguments passed to the callback. Default: all (WordPress: 1). */
  readonly acceptedArgs?: number;
  /**
   * The callback never returns a promise. An asynchronous run of a filter with only such callbacks costs as little as a
   * synchronous one; any other slows every promise of the process while it lasts. Default false.
   */
  readonly isSynchronous?: boolean;
}

/**
 * Filters and actions with WordPress's semantics. Both share one namespace, so that `hasFilter` sees an action's callbacks.
 *
 * Priority: any integer, lower runs earlier, default 10; equal priorities run in the order they were added. The callbacks of one
 * priority are a snapshot taken when the priority starts, but a removed callback never runs. Callbacks added to the
 * hook `all` run before every other hook, with its name as first argument.
 *
 * An error in an action's callback is logged with its owner, and the other callbacks run. An error in a filter reaches the
 * caller, unless `keepValueOnError` says otherwise: most filters decide something, and none must be decided by a mistake. A
 * callback of a filter returns the value, changed or not, or `null` where the filter allows that. For one that returns
 * `undefined`, or a promise in a synchronous run, the value before it is used, one line is logged, and the plugin has it as its
 * last error. Hooks are local to a process: each node runs its own.
 */
export interface HooksApi {
  addFilter<Name extends string>(
    name: Name,
    callback: FilterCallback<Name>,
    priority?: number,
    options?: HookOptions,
  ): Undo;
  addAction<Name extends string>(
    name: Name,
    callback: ActionCallback<Name>,
    priority?: number,
    options?: HookOptions,
  ): Undo;
  /** Returns whether the callback was registered with that priority. */
  removeFilter(name: string, callback: AnyCallback, priority?: number): boolean;
  removeAction(name: string, callback: AnyCallback, priority?: number): boolean;
  /** Removes all callbacks of a hook, or those of one priority. Always returns true, like WordPress. */
  removeAllFilters(name: string, priority?: number): true;
  removeAllActions(name: string, priority?: number): true;
  /** Runs the filter synchronously. A promise returned by a callback is not used. */
  applyFilters<Name extends string, Value>(
    name: Name,
    value: Value & FilterArgs<Name>[0],
    ...args: RestOf<FilterArgs<Name>>
  ): FilterValue<Name, Value>;
  /** Runs the callbacks in order and awaits those that return a thenable. */
  applyFiltersAsync<Name extends string, Value>(
    name: Name,
    value: Value & FilterArgs<Name>[0],
    ...args: RestOf<FilterArgs<Name>>
  ): Promise<FilterValue<Name, Value>>;
  doAction<Name extends string>(name: Name, ...args: ActionArgs<Name>): void;
  /** Runs the action's callbacks in order and awaits each. */
  doActionAsync<Name extends string>(name: Name, ...args: ActionArgs<Name>): Promise<void>;
  /**
   * Without a callback: whether the hook has any. With one: its priority, or false. With both: whether it is registered
   * with that priority.
   */
  hasFilter(name: string, callback?: AnyCallback, priority?: number): boolean | number;
  hasAction(name: string, callback?: AnyCallback, priority?: number): boolean | number;
  /**
   * Declares filters whose value is shown. For a callback that throws, the value before it is used, the error is logged with the
   * plugin it came from, and the plugin has it as its last error. Not for filters that allow, hide or limit something.
   */
  keepValueOnError(names: readonly string[]): void;
  /** Slugs of the plugins that have callbacks, `host` for its own, in the order they run. Names who gave a filter its value. */
  owners(name: string): string[];
  /** How often the filter (or action) ran, including runs in progress. */
  didFilter(name: string): number;
  didAction(name: string): number;
  /** Name of the innermost hook running in this asynchronous context, or false. */
  currentHook(): string | false;
  /**
   * Slug of the plugin that runs the innermost hook of this asynchronous context, `host` for the host; null if none is running,
   * or if it is synchronous. A callback learns by it who asks.
   */
  currentCaller(): string | null;
  /** Whether the hook (or any hook) is running in this asynchronous context. */
  doingHook(name?: string): boolean;
}
