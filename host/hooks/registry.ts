import type { AnyCallback, Undo } from '#plugin-api';
import {
  readPosition,
  everyArgument,
  forgetCompiled,
  functionName,
  Hook,
  type Entry,
  type HookKind,
} from './callbacks.ts';

export interface HookDescription {
  readonly name: string;
  /** How often it ran as a filter, and as an action. */
  readonly filters: number;
  readonly actions: number;
  /** In the order they run. */
  readonly callbacks: readonly {
    readonly priority: number;
    readonly kind: HookKind;
    readonly owner: string;
    readonly callback: string;
    /** File and line that added it; null if unknown. */
    readonly position: string | null;
    /** null: all arguments. */
    readonly acceptedArgs: number | null;
  }[];
}

/** The hooks by name, with their callbacks. */
export interface Registry {
  /** Returns the hook, creating it if needed. */
  find(name: string): Hook;
  readonly byName: ReadonlyMap<string, Hook>;
  /**
   * A cache of the last hook per name length, modulo 32, at half the cost of a map lookup. Compare its name, and call
   * `findRecent` on a miss.
   */
  readonly recent: readonly Hook[];
  /** Like `find`, and caches the hook in `recent`. */
  findRecent(name: string): Hook;
  /** Hooks by id. */
  readonly byId: readonly Hook[];
  add(name: string, entry: Entry): Undo;
  remove(name: string, callback: AnyCallback, priority?: number): boolean;
  removeAll(name: string, priority?: number): true;
  removeOwner(owner: string): void;
  has(name: string, callback?: AnyCallback, priority?: number): boolean | number;
  /** How often callbacks were added or removed. */
  changes(): number;
  describe(): HookDescription[];
}

/**
 * Names can contain data (`option_{name}`), and a hook without callbacks is stored only for `didFilter` and `didAction`.
 * To bound the memory of long-running processes, idle hooks are dropped above this number.
 */
const forgetAbove = 50_000;
/** The hook `all` has id 0 and is never dropped. */
const reservedIds = 1;

/** @param mayForget whether no run is in progress that could still refer to its hook. */
export function createRegistry(mayForget: () => boolean): Registry {
  const hooks = new Map<string, Hook>();
  const byId: Hook[] = [];
  const freeIds: number[] = [];
  const emptyHook = new Hook('', -1);
  const recent: Hook[] = new Array<Hook>(32).fill(emptyHook);
  let limit = forgetAbove;
  let changes = 0;

  const forgetIdle = (): void => {
    for (const hook of hooks.values()) {
      if (hook.entries.length > 0 || hook.id < reservedIds) continue;
      hooks.delete(hook.name);
      freeIds.push(hook.id);
    }
    recent.fill(emptyHook);
    limit = hooks.size + forgetAbove;
  };

  const create = (name: string): Hook => {
    if (hooks.size >= limit && mayForget()) forgetIdle();
    const id = freeIds.pop() ?? byId.length;
    const hook = new Hook(name, id);
    byId[id] = hook;
    hooks.set(name, hook);
    return hook;
  };
  const find = (name: string): Hook => hooks.get(name) ?? create(name);
  const removeFrom = (name: string, matches: (entry: Entry) => boolean): boolean => {
    const hook = hooks.get(name);
    changes += 1;
    return hook?.remove(matches) ?? false;
  };

  return {
    find,
    byName: hooks,
    byId,
    recent,
    findRecent: (name) => (recent[name.length & 31] = find(name)),
    add(name, entry) {
      checkAdd(name, entry);
      find(name).add(entry);
      changes += 1;
      // Compiled runs do not look for callbacks of `all`.
      if (name === 'all') for (const hook of hooks.values()) forgetCompiled(hook);
      return () => void removeFrom(name, (each) => each === entry);
    },
    remove: (name, callback, priority = 10) =>
      removeFrom(name, (entry) => entry.callback === callback && entry.priority === priority),
    removeAll(name, priority) {
      removeFrom(name, (entry) => priority === undefined || entry.priority === priority);
      return true;
    },
    removeOwner(owner) {
      changes += 1;
      for (const hook of hooks.values()) hook.remove((entry) => entry.owner === owner);
    },
    has(name, callback, priority) {
      const entries = hooks.get(name)?.entries ?? [];
      if (!callback) return entries.length > 0;
      const found = entries.find(
        (entry) => entry.callback === callback && (priority === undefined || entry.priority === priority),
      );
      return priority === undefined ? (found?.priority ?? false) : found !== undefined;
    },
    changes: () => changes,
    describe: () => describeAll(hooks.values()),
  };
}

function describeAll(hooks: Iterable<Hook>): HookDescription[] {
  const used = [...hooks].filter((hook) => hook.entries.length > 0 || hook.filtersApplied + hook.actionsDone > 0);
  return used.map(describe).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function describe(hook: Hook): HookDescription {
  return {
    name: hook.name,
    filters: hook.filtersApplied,
    actions: hook.actionsDone,
    callbacks: hook.entries.map((entry) => ({
      priority: entry.priority,
      kind: entry.kind,
      owner: entry.owner,
      callback: functionName(entry),
      position: readPosition(entry.addedAt, entry.owner),
      acceptedArgs: entry.acceptedArgs === everyArgument ? null : entry.acceptedArgs,
    })),
  };
}

function checkAdd(name: string, { callback, priority, acceptedArgs }: Entry): void {
  if (typeof name !== 'string' || name === '') throw new TypeError('A hook needs a name: pass a non-empty string.');
  if (typeof callback !== 'function') throw new TypeError(`The callback for the hook '${name}' is not a function.`);
  if (!Number.isInteger(priority)) {
    throw new TypeError(
      `The priority ${String(priority)} for the hook '${name}' is not an integer; the default is 10, lower runs earlier.`,
    );
  }
  if (!Number.isInteger(acceptedArgs) || acceptedArgs < 0) {
    throw new TypeError(
      `acceptedArgs ${String(acceptedArgs)} for the hook '${name}' must be an integer of 0 or more; omit it for all arguments.`,
    );
  }
}
