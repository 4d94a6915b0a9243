import type { AnyCallback } from '#plugin-api';
import type { Hook } from './callbacks.ts';
import { deepestNesting } from './context.ts';
import type { RunStack } from './context.ts';

/** A way through the callbacks of one hook, for a value without further arguments. */
export type CompiledRun = (value: unknown) => unknown;

/** Goes on from the callback of that place, by the rules for what was added or removed on the way. */
export type GoOn = (
  hook: Hook,
  place: { readonly generation: number; readonly entries: Hook['entries']; readonly index: number },
  run: { readonly level: number; readonly value: unknown },
) => unknown;

/** Runs of the same callbacks after which a way of their own pays; making one takes about as long as a thousand runs. */
export const compileAfter = 500;
/** Callbacks beyond which a loop is no slower. */
const mostCallbacks = 32;

/** Counts the texts, so that no two are equal: for equal ones the engine keeps one record of what is called where. */
let made = 0;

/**
 * Writes out the loop over a hook's callbacks as a function of their own, so that the engine sees each callback at a
 * place where none other is ever called, and takes it in. A loop shared by all hooks calls every callback of the process
 * at one place, which costs more than all the rest of a run. Webpack's hooks are made in the same way.
 *
 * No text from outside gets into the code: it holds numbers and names made here. Null where there is nothing to gain or
 * the process forbids making code; the shared loop then goes on serving.
 */
export function compileRun(hook: Hook, stack: RunStack, goOn: GoOn): CompiledRun | null {
  const { groups, entries, generation } = hook;
  if (groups === null || entries.length === 0 || entries.length > mostCallbacks) return null;
  const callbacks = entries.map(({ callback }) => callback);
  const names = callbacks.map((_, place) => `callback${place}`);
  const places = entries.map((_, place) => ({ generation, entries, index: place + 1 }));
  let priority = groups[0]?.priority ?? 10;
  const steps = entries.map((entry, place) => {
    const reach = entry.priority === priority ? '' : `priorities[level] = ${entry.priority};`;
    priority = entry.priority;
    return `${reach} value = callback${place}(value); if (hook.entries !== entries) return goOn(hook, places[${place}], { level, value });`;
  });
  const code = `
    "use strict"; // ${(made += 1)}
    return function run(value) {
      const level = state[0];
      if (level >= ${deepestNesting}) throw overflow(hook);
      state[1 + level] = ${hook.id};
      priorities[level] = ${groups[0]?.priority ?? 10};
      state[0] = level + 1;
      try {
        ${steps.join('\n')}
        return value;
      } finally {
        state[0] = level;
      }
    };`;
  try {
    const make = new Function(
      'hook',
      'entries',
      'places',
      'state',
      'priorities',
      'overflow',
      'goOn',
      ...names,
      code,
    ) as (...known: unknown[]) => CompiledRun;
    return make(
      hook,
      entries,
      places,
      stack.state,
      stack.priorities,
      stack.overflow,
      goOn,
      ...(callbacks as AnyCallback[]),
    );
  } catch {
    return null;
  }
}
