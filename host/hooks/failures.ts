import type { Logger } from '#plugin-api';
import { functionName } from './callbacks.ts';
import type { Entry, Hook, HookKind } from './callbacks.ts';
import { HookCycleError } from './context.ts';
import type { HookContext } from './context.ts';

/** A callback that threw, whose promise rejected, or whose result a filter could not use. */
export interface HookFailure {
  /** How the hook ran. */
  readonly kind: HookKind;
  readonly hook: string;
  /** Slug of the plugin, or `host`. */
  readonly owner: string;
  /** Name of the function, or `(anonymous)`. */
  readonly callback: string;
  readonly error: unknown;
}

export type FailureListener = (failure: HookFailure) => void;

/** Attributes the errors of callbacks to their owners. */
export interface Failures {
  /** Notifies the listeners of an error of a filter, which reaches the caller: of the innermost callback that it came through. */
  note(entry: Entry, error: unknown): void;
  /** Logs, once per callback, that its result was not used, and notifies the listeners. */
  refuse(entry: Entry, reason: string): void;
  /** Logs an error of a filter that goes on with the value before it. False for a HookCycleError inside another run, as in `isolate`. */
  keep(entry: Entry, error: unknown): boolean;
  /** The callback of a filter that an error came from; undefined if it came from none. */
  culpritOf(error: unknown): Entry | undefined;
  /** Logs the error of an action and notifies the listeners. */
  report(callbacks: Hook, entry: Entry, error: unknown): void;
  /**
   * Reports an error inside an action, so that its other callbacks run. A HookCycleError is rethrown instead: running the
   * other callbacks would start the hook again, twice as often at each level.
   */
  isolate(callbacks: Hook, entry: Entry, error: unknown): void;
}

interface FailuresDependencies {
  readonly context: HookContext;
  readonly log: Pick<Logger, 'error'> | undefined;
  readonly listeners: Iterable<FailureListener>;
}

export function createFailures({ context, log, listeners }: FailuresDependencies): Failures {
  const culprits = new WeakMap<object, Entry>();
  const refused = new WeakSet<Entry>();
  const countRepeats = createRepeats();
  const describe = (kind: HookKind, hook: string, entry: Entry, error: unknown): HookFailure => ({
    ...{ kind, hook, owner: entry.owner, callback: functionName(entry), error },
  });
  const notify = (failure: HookFailure): void => {
    for (const listener of listeners) listener(failure);
  };
  const report: Failures['report'] = (callbacks, entry, error) => {
    const failure = describe('action', callbacks.name, entry, error);
    const message = `Callback of the action '${callbacks.name}' failed; the others ran`;
    writeFailure(log, message, 'hook_callback_failed', failure);
    notify(failure);
  };
  return {
    report,
    note(entry, error) {
      if (typeof error === 'object' && error !== null) {
        if (culprits.has(error)) return;
        culprits.set(error, entry);
      }
      notify(describe('filter', entry.hook, entry, error));
    },
    refuse(entry, reason) {
      if (refused.has(entry)) return;
      refused.add(entry);
      const failure = describe('filter', entry.hook, entry, new Error(reason));
      writeFailure(log, 'Result of a filter callback not used', 'hook_result_refused', failure);
      notify(failure);
    },
    keep(entry, error) {
      if (error instanceof HookCycleError && context.nested()) return false;
      const times = countRepeats(entry, error);
      if (times === null) return true;
      const culprit = (typeof error === 'object' && error !== null && culprits.get(error)) || entry;
      const message = `Callback of the filter '${entry.hook}' failed; the value before it was used`;
      writeFailure(log, message, 'hook_callback_failed', { ...describe('filter', entry.hook, culprit, error), times });
      return true;
    },
    culpritOf: (error) => (typeof error === 'object' && error !== null ? culprits.get(error) : undefined),
    isolate(callbacks, entry, error) {
      if (error instanceof HookCycleError && context.nested()) throw error;
      report(callbacks, entry, error);
    },
  };
}

/** Messages of one callback to count. Those with an id or a time in them differ each time. */
const maxMessages = 100;

/**
 * Filters run many times a page, so an error is logged at its 1st, 10th, 100th, ... time: returns that count, else null. What
 * `by` names (a callback, or a hook) is counted by itself.
 */
export function createRepeats(): (by: object, error: unknown) => number | null {
  const counts = new WeakMap<object, Map<string, number>>();
  return (by, error) => {
    const message = error instanceof Error ? error.message : String(error);
    const own = counts.get(by) ?? new Map<string, number>();
    counts.set(by, own);
    const times = (own.get(message) ?? 0) + 1;
    if (times === 1 && own.size >= maxMessages) own.clear();
    own.set(message, times);
    return /^10*$/.test(String(times)) ? times : null;
  };
}

function writeFailure(
  log: Pick<Logger, 'error'> | undefined,
  message: string,
  event: string,
  { kind: _kind, error, ...fields }: HookFailure & { readonly times?: number },
): void {
  if (log) log.error(message, { event, ...fields, error });
  else console.error(message, fields, error);
}
