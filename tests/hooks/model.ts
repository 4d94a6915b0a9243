import type { HookEngine, TracedCallback } from './program.ts';

interface Entry {
  readonly callback: TracedCallback;
  readonly acceptedArgs: number;
}

/** priority -> callbacks in order of their first add. A hook that lost its last callback is a new one when it gets the next. */
type Hook = Map<number, Map<TracedCallback, Entry>>;

interface Run {
  readonly hook: Hook;
  priority: number;
  /** Callbacks of the running priority that were taken away since it began, even if they were put back. */
  readonly taken: Set<TracedCallback>;
}

/**
 * The rules of hooks in the plainest form, to measure the real ones against. It shares nothing with them.
 *
 * @param removedNeverRuns the project's rule. Without it: WordPress's, where a callback that is removed while its
 *   own priority runs is still called once.
 */
export function createModel({ removedNeverRuns }: { removedNeverRuns: boolean }): HookEngine {
  const hooks = new Map<string, Hook>();
  const running: { name: string; run: Run | null }[] = [];
  const counts = { filters: new Map<string, number>(), actions: new Map<string, number>() };

  const drop = (name: string, hook: Hook, priority: number): void => {
    if (hook.get(priority)?.size === 0) hook.delete(priority);
    if (hook.size === 0) hooks.delete(name);
  };
  const take = (hook: Hook, priority: number, callback: TracedCallback): void => {
    hook.get(priority)?.delete(callback);
    for (const { run } of running) if (run?.hook === hook && run.priority === priority) run.taken.add(callback);
  };

  const execute = (name: string, args: unknown[], keep: (value: unknown) => void): void => {
    const hook = hooks.get(name);
    const run: Run | null = hook ? { hook, priority: -Infinity, taken: new Set() } : null;
    running.push({ name, run });
    while (run) {
      const next = [...run.hook.keys()].filter((priority) => priority > run.priority).sort((a, b) => a - b)[0];
      if (next === undefined) break;
      run.priority = next;
      run.taken.clear();
      for (const entry of [...run.hook.get(next)!.values()]) {
        if (removedNeverRuns && run.taken.has(entry.callback)) continue;
        keep(entry.callback(...args.slice(0, entry.acceptedArgs)));
      }
    }
    running.pop();
  };
  const count = (counter: Map<string, number>, name: string): void =>
    void counter.set(name, (counter.get(name) ?? 0) + 1);

  return {
    add({ hook: name, callback, priority, acceptedArgs }) {
      let hook = hooks.get(name);
      if (!hook) hooks.set(name, (hook = new Map()));
      let entries = hook.get(priority);
      if (!entries) hook.set(priority, (entries = new Map()));
      entries.set(callback, { callback, acceptedArgs });
    },
    remove(name, callback, priority) {
      const hook = hooks.get(name);
      if (!hook?.get(priority)?.has(callback)) return false;
      take(hook, priority, callback);
      drop(name, hook, priority);
      return true;
    },
    removeAll(name, priority) {
      const hook = hooks.get(name);
      for (const each of priority === false ? [...(hook?.keys() ?? [])] : [priority]) {
        for (const callback of [...(hook?.get(each)?.keys() ?? [])]) take(hook!, each, callback);
        if (hook) drop(name, hook, each);
      }
    },
    apply(name, value, ...rest) {
      count(counts.filters, name);
      const args = [value, ...rest];
      execute(name, args, (answer) => (args[0] = answer));
      return args[0];
    },
    do(name, ...args) {
      count(counts.actions, name);
      execute(name, args, () => undefined);
    },
    has(name, callback, priority) {
      const hook = hooks.get(name);
      if (!hook) return false;
      if (!callback) return hook.size > 0;
      if (priority !== undefined) return hook.get(priority)?.has(callback) ?? false;
      const found = [...hook.keys()].sort((a, b) => a - b).find((each) => hook.get(each)!.has(callback));
      return found ?? false;
    },
    did: (name) => [counts.actions.get(name) ?? 0, counts.filters.get(name) ?? 0],
    current: () => running.at(-1)?.name ?? false,
    doing: (name) => (name === undefined ? running.length > 0 : running.some((each) => each.name === name)),
    priority: (name) => running.find((each) => each.name === name && each.run)?.run?.priority ?? false,
  };
}
