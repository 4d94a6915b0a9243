import { createHooks } from '../../host/hooks/hooks.ts';
import type { Hooks } from '../../host/hooks/hooks.ts';
import type { HookEngine } from './program.ts';

/** The project's hooks as an engine of hook programs, run synchronously. */
export function synchronousEngine(hooks: Hooks = createHooks()): HookEngine {
  return {
    add: ({ kind, hook, callback, priority, acceptedArgs }) =>
      void (kind === 'filter' ? hooks.addFilter : hooks.addAction)(hook, callback, priority, { acceptedArgs }),
    remove: (hook, callback, priority) => hooks.removeFilter(hook, callback, priority),
    removeAll: (hook, priority) => void hooks.removeAllFilters(hook, priority === false ? undefined : priority),
    apply: (hook, value, ...args) => hooks.applyFilters(hook, value, ...args),
    do: (hook, ...args) => hooks.doAction(hook, ...args),
    has: (hook, callback, priority) => hooks.hasFilter(hook, callback, priority),
    did: (hook) => [hooks.didAction(hook), hooks.didFilter(hook)],
    current: () => hooks.currentHook(),
    doing: (hook) => hooks.doingHook(hook),
    priority: (hook) => hooks.currentPriority(hook),
  };
}

/** The same, with every run an asynchronous one. */
export function asynchronousEngine(hooks: Hooks = createHooks()): HookEngine {
  return {
    ...synchronousEngine(hooks),
    apply: (hook, value, ...args) => hooks.applyFiltersAsync(hook, value, ...args),
    do: (hook, ...args) => hooks.doActionAsync(hook, ...args),
  };
}
