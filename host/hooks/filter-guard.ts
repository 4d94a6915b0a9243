import { isThenable } from './callbacks.ts';
import type { Entry } from './callbacks.ts';
import type { Failures } from './failures.ts';

/** Decides which value a filter has after a callback. */
export interface FilterGuard {
  /** The value after a callback that ran synchronously: `result`, or `former` if the result is none. */
  settle(entry: Entry, former: unknown, result: unknown): unknown;
  /** The same for a run that awaited the callback. */
  settleAwaited(entry: Entry, former: unknown, result: unknown): unknown;
  /** Whether the run goes on with the value before a callback that threw, which is then logged. */
  survives(entry: Entry, error: unknown): boolean;
}

/** As `@wordpress/hooks` and WordPress do: whatever a callback returns is the value. */
export const noGuard: FilterGuard = {
  settle: (_entry, _former, result) => result,
  settleAwaited: (_entry, _former, result) => result,
  survives: () => false,
};

/** What `HooksApi.keepValueOnError` declared, by the names of the filters. */
export type TolerantFilters = Set<string>;

/**
 * Keeps the former value where a callback returns `undefined` for a value that is not, or a promise to a run that does not
 * await: both are mistakes of the callback, and the code that applied the filter would fail far from it. Every other value
 * is the callback's decision, also `null`. A callback that throws decides nothing where the filter was declared so.
 */
export function createFilterGuard(
  failures: Pick<Failures, 'refuse' | 'note' | 'keep'>,
  tolerant: TolerantFilters,
): FilterGuard {
  const settleAwaited: FilterGuard['settle'] = (entry, former, result) => {
    if (result !== undefined || former === undefined) return result;
    failures.refuse(
      entry,
      `A callback of the filter '${entry.hook}' returned nothing, so the value before it was used. ` +
        'Return the value, changed or not.',
    );
    return former;
  };
  return {
    settleAwaited,
    survives(entry, error) {
      return tolerant.has(entry.hook) && failures.keep(entry, error);
    },
    settle(entry, former, result) {
      if (!isThenable(result) || isThenable(former)) return settleAwaited(entry, former, result);
      // Nothing awaits it, and a rejection must not end the process.
      result.then(undefined, (error: unknown) => failures.note(entry, error));
      failures.refuse(
        entry,
        `A callback of the filter '${entry.hook}' returned a promise, but this filter runs synchronously, so the value before ` +
          'it was used. Write the callback without async and await.',
      );
      return former;
    },
  };
}
