import type { AnyCallback } from '#plugin-api';
import type { Cursor, Entry, Hook } from './callbacks.ts';
import { maxNesting } from './context.ts';
import type { RunStack } from './context.ts';
import type { FilterGuard } from './filter-guard.ts';

/** A compiled loop over the callbacks of one hook, for a value without further arguments. */
export type CompiledRun = (value: unknown) => unknown;

export interface CompiledRunDependencies {
  readonly stack: RunStack;
  /** See FilterGuard. */
  readonly settle: FilterGuard['settle'];
  /** Notes which callback an error came from. Throws it, or returns if the run goes on without that callback. */
  readonly recover: (entry: Entry, error: unknown) => void;
  /** Continues at that position, by the rules for callbacks added or removed during a run. */
  readonly resume: (position: Readonly<Cursor>, level: number, value: unknown) => unknown;
}

/** Number of runs after which compiling pays; compiling takes about as long as a thousand runs. */
export const compileAfter = 500;
/** With more callbacks, a loop is as fast. */
const maxCallbacks = 32;

/** Makes each source text unique: V8 shares type feedback between equal texts. */
let compiledCount = 0;

/**
 * Generates an unrolled loop over a hook's callbacks, so that each call site has one callback and V8 can inline it. A loop
 * shared by all hooks has one megamorphic call site, which costs more than the rest of a run. Webpack's hooks work the
 * same way.
 *
 * The code contains no external text, only numbers and names generated here. Null if compiling would not help or code
 * generation is disabled; the shared loop is used then.
 */
export function compileRun(
  hook: Hook,
  { stack, settle, recover, resume }: CompiledRunDependencies,
): CompiledRun | null {
  const { groups, entries, generation, version } = hook;
  if (groups === null || entries.length === 0 || entries.length > maxCallbacks) return null;
  const callbacks = entries.map(({ callback }) => callback);
  const names = callbacks.map((_, index) => `callback${index}`);
  const positions = entries.map((_, index) => ({ hook, generation, version, entries, index: index + 1 }));
  hook.firstPriority = entries[0]?.priority ?? 10;
  let priority = hook.firstPriority;
  const steps = entries.map((entry, index) => {
    const reach =
      entry.priority === priority ? '' : `state[1 + level] = ${hook.id}; priorities[level] = ${entry.priority};`;
    priority = entry.priority;
    return `${reach} position = ${index}; result = callback${index}(value);
        kind = typeof result;
        value = kind === 'number' || kind === 'string' || kind === 'boolean'
          ? result
          : settle(entries[${index}], value, result);
        if (hook.version !== ${version}) return resume(positions[${index}], level, value);`;
  });
  const code = `
    "use strict"; // ${(compiledCount += 1)}
    return function run(value) {
      const level = state[0];
      if (level >= ${maxNesting}) throw overflow(hook);
      state[1 + level] = ${~hook.id};
      state[0] = level + 1;
      let position = 0, result, kind;
      try {
        ${steps.join('\n')}
        return value;
      } catch (error) {
        recover(entries[position], error);
        return resume(positions[position], level, value);
      } finally {
        state[0] = level;
      }
    };`;
  try {
    const make = new Function(
      'hook',
      'entries',
      'positions',
      'state',
      'priorities',
      'overflow',
      'settle',
      'recover',
      'resume',
      ...names,
      code,
    ) as (...known: unknown[]) => CompiledRun;
    return make(
      hook,
      entries,
      positions,
      stack.state,
      stack.priorities,
      stack.overflow,
      settle,
      recover,
      resume,
      ...(callbacks as AnyCallback[]),
    );
  } catch {
    return null;
  }
}
