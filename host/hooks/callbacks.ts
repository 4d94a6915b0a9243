import type { AnyCallback } from '#plugin-api';

export type HookKind = 'filter' | 'action';

/** One added callback. */
export interface Entry {
  readonly callback: AnyCallback;
  readonly priority: number;
  /** `everyArgument`: all of them. */
  readonly acceptedArgs: number;
  /** Whether it never returns a promise. */
  readonly isSynchronous: boolean;
  /** Slug of the plugin, or `host`. */
  readonly owner: string;
  readonly kind: HookKind;
  readonly addedAt: AddedAt;
  /** Name of the hook. */
  readonly hook: string;
  removed: boolean;
  /** The entry that replaced this one when the same callback was added again. */
  replacedBy: Entry | null;
}

/** The callbacks of one priority. */
export interface Group {
  readonly priority: number;
  readonly callbacks: readonly AnyCallback[];
  /** Index of its first callback among the hook's entries. */
  readonly first: number;
}

/** Everything known about one hook name. */
export class Hook {
  readonly name: string;
  /** Its index in the hooks instance; identifies it on the run stack. */
  readonly id: number;
  /** Changes with the callbacks. */
  version = 0;
  /** Counts how often the hook lost its last callback. Runs that started before ignore callbacks added later. */
  generation = 0;
  /** A compiled loop for these callbacks, once they have run often enough. */
  compiled: ((value: unknown) => unknown) | null = null;
  /** Priority of the first callback of the latest `compiled`. */
  firstPriority = 10;
  /** Runs of these callbacks by the shared loop. */
  runs = 0;
  filtersApplied = 0;
  actionsDone = 0;
  /** Added since `entries` was read: taken over together, so that adding thousands takes time in proportion. */
  private added: Entry[] = [];
  private ordered: readonly Entry[] = noEntries;
  private byPriority: readonly Group[] | null = [];
  private neverAwaits = true;

  constructor(name: string, id: number) {
    this.name = name;
    this.id = id;
  }

  /** By priority, then in the order they were added. Never mutated: a run in progress uses its array as a snapshot. */
  get entries(): readonly Entry[] {
    if (this.added.length > 0) this.takeOver();
    return this.ordered;
  }

  /** The same callbacks by priority, for the fast path; null when one of them accepts no arguments. */
  get groups(): readonly Group[] | null {
    if (this.added.length > 0) this.takeOver();
    return this.byPriority;
  }

  /** Whether no callback returns a promise. */
  get isSynchronous(): boolean {
    if (this.added.length > 0) this.takeOver();
    return this.neverAwaits;
  }

  /**
   * Adds after those of the same priority. The same callback of the same owner and priority keeps its position and gets the
   * new `acceptedArgs`. Other owners have their own entry, so that deactivating one plugin leaves the other's.
   */
  add(entry: Entry): void {
    this.added.push(entry);
    this.version += 1;
    forgetCompiled(this);
  }

  /** Removes the matching entries. Returns whether there were any. */
  remove(matches: (entry: Entry) => boolean): boolean {
    const { entries } = this;
    const remaining: Entry[] = [];
    for (const entry of entries) {
      if (matches(entry)) entry.removed = true;
      else remaining.push(entry);
    }
    if (remaining.length === entries.length) return false;
    if (remaining.length === 0) this.generation += 1;
    this.version += 1;
    forgetCompiled(this);
    this.set(remaining);
    return true;
  }

  private takeOver(): void {
    const entries = [...this.ordered];
    const known = new Map<AnyCallback, number[]>();
    const note = ({ callback }: Entry, index: number): unknown =>
      known.get(callback)?.push(index) ?? known.set(callback, [index]);
    entries.forEach(note);
    for (const entry of this.added.splice(0)) {
      const same = known.get(entry.callback)?.find((index) => {
        const { priority, owner } = entries[index] as Entry;
        return priority === entry.priority && owner === entry.owner;
      });
      if (same === undefined) note(entry, entries.push(entry) - 1);
      else {
        (entries[same] as Entry).replacedBy = entry;
        entries[same] = entry;
      }
    }
    this.set(entries.sort((left, right) => left.priority - right.priority));
  }

  private set(entries: readonly Entry[]): void {
    const groups: { priority: number; callbacks: AnyCallback[]; first: number }[] = [];
    for (const [index, { priority, callback }] of entries.entries()) {
      const last = groups.at(-1);
      if (last?.priority === priority) last.callbacks.push(callback);
      else groups.push({ priority, callbacks: [callback], first: index });
    }
    this.ordered = entries.length === 0 ? noEntries : entries;
    this.neverAwaits = entries.every(({ isSynchronous }) => isSynchronous);
    this.byPriority = entries.some(({ acceptedArgs }) => acceptedArgs === 0) ? null : groups;
  }
}

/** More than any call passes; a small integer compares faster than Infinity. */
export const everyArgument = 0x3fffffff;

/** The entries of every hook without callbacks; compared by identity. */
export const noEntries: readonly Entry[] = [];

/** Sends the hook's next runs through the shared loop. */
export function forgetCompiled(hook: Hook): void {
  hook.compiled = null;
  hook.runs = 0;
}

/** The position of a run in its hook's callbacks. */
export interface Cursor {
  readonly hook: Hook;
  readonly generation: number;
  /** Of the hook when `entries` was read. */
  version: number;
  entries: readonly Entry[];
  index: number;
}

export function beginRun(hook: Hook): Cursor {
  return { hook, generation: hook.generation, version: hook.version, entries: hook.entries, index: 0 };
}

/**
 * The next callback, or undefined at the end. Without changes this is the next array item. Otherwise the rest of the
 * current priority comes from the snapshot, minus removed callbacks, and the next priority from the callbacks that exist
 * when it starts.
 */
export function nextEntry(cursor: Cursor): Entry | undefined {
  return cursor.version === cursor.hook.version ? cursor.entries[cursor.index++] : nextChanged(cursor);
}

function nextChanged(cursor: Cursor): Entry | undefined {
  const running = cursor.index === 0 ? undefined : cursor.entries[cursor.index - 1];
  const { entries, version } = cursor.hook;
  while (running && cursor.index < cursor.entries.length) {
    const entry = cursor.entries[cursor.index] as Entry;
    if (entry.priority !== running.priority) break;
    cursor.index += 1;
    if (!isRemoved(entry)) return entry;
  }
  if (cursor.generation !== cursor.hook.generation) return undefined;
  cursor.entries = entries;
  cursor.version = version;
  cursor.index = running ? firstAbove(cursor.entries, running.priority) : 0;
  return cursor.entries[cursor.index++];
}

function isRemoved(entry: Entry): boolean {
  let latest = entry;
  while (latest.replacedBy) latest = latest.replacedBy;
  return latest.removed;
}

function firstAbove(entries: readonly Entry[], priority: number): number {
  const index = entries.findIndex((entry) => entry.priority > priority);
  return index < 0 ? entries.length : index;
}

/** Runs each callback itself, to measure it. It must call `run` and return its result. */
export type CallbackObserver = (entry: Entry, run: () => unknown) => unknown;

/** Of all hooks of the process; null while no request is traced, which keeps the fast paths. */
export let observer: CallbackObserver | null = null;

export function observeCallbacks(next: CallbackObserver | null): void {
  observer = next;
}

export function invoke(entry: Entry, args: readonly unknown[]): unknown {
  return observer === null ? call(entry, args) : observer(entry, () => call(entry, args));
}

/**
 * Calls with as many arguments as the callback accepts. Common counts are written out: spreading costs more than the rest
 * of a run.
 */
function call(entry: Entry, args: readonly unknown[]): unknown {
  const { callback, acceptedArgs } = entry;
  const count = args.length < acceptedArgs ? args.length : acceptedArgs;
  switch (count) {
    case 0:
      return callback();
    case 1:
      return callback(args[0]);
    case 2:
      return callback(args[0], args[1]);
    case 3:
      return callback(args[0], args[1], args[2]);
    default:
      return callback(...args.slice(0, count));
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}

export function functionName(entry: Entry): string {
  return entry.callback.name || '(anonymous)';
}

/** Where a callback was added. Node formats the stack when it is read, so taking it costs about ten microseconds. */
interface AddedAt {
  readonly stack?: string;
}

/** @param adder the function that adds; frames above it are left out. */
export function noteAddedAt(adder: (...args: never[]) => unknown): AddedAt {
  const at: AddedAt = {};
  Error.captureStackTrace(at, adder);
  return at;
}

/** Files that pass a registration on. */
const passedThrough = /[\\/]host[\\/](?:hooks|loader)[\\/]|\(?node:/;

/**
 * File and line of the code that added a callback, from the folder of its owner on, such as `order-helper/index.ts:12`; null
 * if it is unknown.
 */
export function readPosition({ stack = '' }: AddedAt, owner: string): string | null {
  const frame = stack.split('\n').find((line) => /^\s+at /.test(line) && !passedThrough.test(line));
  const [, path, line] = /(?:\(|at (?:async )?)(?:file:\/\/)?([^()]+?):(\d+)(?::\d+)?\)?$/.exec(frame ?? '') ?? [];
  if (path === undefined || line === undefined) return null;
  const start = path.lastIndexOf(`/${owner}/`);
  return `${start < 0 ? path : path.slice(start + 1)}:${line}`;
}
