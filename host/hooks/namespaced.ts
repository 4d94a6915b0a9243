import type { AnyCallback, HooksApi, NamespacedHooks, Undo } from '#plugin-api';

type Kind = 'Filter' | 'Action';

interface Added {
  readonly namespace: string;
  readonly undo: Undo;
}

/**
 * The host's hooks under the signatures of @wordpress/hooks: `addFilter(name, namespace, callback, priority)`. As there,
 * one function may be added several times, the actions `hookAdded` (name, namespace, callback, priority) and
 * `hookRemoved` (name, namespace) report changes, and removing a filter leaves the action of the same name. Unlike there,
 * an invalid namespace throws instead of logging to the console, and an error in an action does not stop the other
 * callbacks. Each facade has its own namespaces: create one per plugin.
 */
export function withNamespaces(hooks: HooksApi): NamespacedHooks {
  const filters = createNamespaces('Filter', hooks);
  const actions = createNamespaces('Action', hooks);
  const current = (): string | null => hooks.currentHook() || null;
  const doing = (name?: string): boolean => hooks.doingHook(name);
  return {
    addFilter: filters.add,
    addAction: actions.add,
    removeFilter: filters.remove,
    removeAction: actions.remove,
    removeAllFilters: (name) => filters.remove(name),
    removeAllActions: (name) => actions.remove(name),
    hasFilter: filters.has,
    hasAction: actions.has,
    applyFilters: (name, value, ...args) => hooks.applyFilters(name, value, ...args),
    applyFiltersAsync: (name, value, ...args) => hooks.applyFiltersAsync(name, value, ...args),
    doAction: (name, ...args) => hooks.doAction(name, ...args),
    doActionAsync: (name, ...args) => hooks.doActionAsync(name, ...args),
    currentFilter: current,
    currentAction: current,
    doingFilter: doing,
    doingAction: doing,
    didFilter: (name) => hooks.didFilter(name),
    didAction: (name) => hooks.didAction(name),
  };
}

function createNamespaces(kind: Kind, hooks: HooksApi) {
  const added = new Map<string, Set<Added>>();

  function forget(name: string, entry: Added): void {
    const entries = added.get(name);
    entries?.delete(entry);
    if (entries?.size === 0) added.delete(name);
  }

  return {
    add(name: string, namespace: string, callback: AnyCallback, priority = 10): Undo {
      checkNamespace(name, namespace);
      if (typeof callback !== 'function') throw new TypeError(`The callback for the hook '${name}' is not a function.`);
      // A new function each time: the host treats a function that is added twice as one.
      const own: AnyCallback = (...args: unknown[]) => callback(...args);
      Object.defineProperty(own, 'name', { value: `${namespace}: ${callback.name || '(anonymous)'}` });
      const entry: Added = {
        namespace,
        undo: kind === 'Filter' ? hooks.addFilter(name, own, priority) : hooks.addAction(name, own, priority),
      };
      const entries = added.get(name) ?? new Set();
      added.set(name, entries.add(entry));
      if (name !== 'hookAdded') hooks.doAction('hookAdded', name, namespace, callback, priority);
      return () => {
        entry.undo();
        forget(name, entry);
      };
    },
    /** Removes all namespaces by default. */
    remove(name: string, namespace?: string): number {
      if (namespace !== undefined) checkNamespace(name, namespace);
      const matching = [...(added.get(name) ?? [])].filter(
        (entry) => namespace === undefined || entry.namespace === namespace,
      );
      for (const entry of matching) {
        entry.undo();
        forget(name, entry);
      }
      if (name !== 'hookRemoved' && matching.length > 0) hooks.doAction('hookRemoved', name, namespace ?? '');
      return matching.length;
    },
    has(name: string, namespace?: string): boolean {
      if (namespace === undefined)
        return kind === 'Filter' ? hooks.hasFilter(name) !== false : hooks.hasAction(name) !== false;
      return [...(added.get(name) ?? [])].some((entry) => entry.namespace === namespace);
    },
  };
}

function checkNamespace(name: string, namespace: string): void {
  if (typeof namespace === 'string' && /^[a-zA-Z][\w.\-/]*$/.test(namespace)) return;
  throw new TypeError(
    `'${String(namespace)}' is not a valid namespace for a callback of the hook '${name}'. ` +
      "Start with a letter and use letters, digits, '_', '.', '-' and '/': my-plugin/prices.",
  );
}
