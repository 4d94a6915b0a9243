import type { Logger } from '#plugin-api';
import { functionName } from './callbacks.ts';
import type { Entry, Hook } from './callbacks.ts';
import { HookCycleError } from './context.ts';
import type { HookContext } from './context.ts';

/** A callback of an action that threw, or whose promise rejected. */
export interface HookFailure {
  readonly hook: string;
  /** Slug of the plugin, or `host`. */
  readonly owner: string;
  /** Name of the function, or `(anonymous)`. */
  readonly callback: string;
  readonly error: unknown;
}

export type FailureListener = (failure: HookFailure) => void;

/** Handles callback errors that must not reach the caller. */
export interface Failures {
  /** Logs the error and notifies the listeners. */
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
  const report: Failures['report'] = (callbacks, entry, error) => {
    const failure: HookFailure = { hook: callbacks.name, owner: entry.owner, callback: functionName(entry), error };
    logFailure(failure, log);
    for (const listener of listeners) listener(failure);
  };
  return {
    report,
    isolate(callbacks, entry, error) {
      if (error instanceof HookCycleError && context.nested()) throw error;
      report(callbacks, entry, error);
    },
  };
}

function logFailure({ error, ...fields }: HookFailure, log: Pick<Logger, 'error'> | undefined): void {
  const message = `Callback of the action '${fields.hook}' failed; the others ran`;
  if (log) log.error(message, { event: 'hook_callback_failed', ...fields, error });
  else console.error(message, fields, error);
}
