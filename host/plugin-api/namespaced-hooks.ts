import type { AnyCallback } from './hooks.ts';
import type { Undo } from './undo.ts';

/**
 * What @wordpress/hooks offers, on the host's own hooks: `host.api.withNamespaces(host.hooks)`. Each callback carries a
 * namespace, and is removed by it. What a plugin adds through it goes with the plugin, as all that it adds.
 */
export interface NamespacedHooks {
  /** @param namespace begins with a letter; letters, digits, `_`, `.`, `-` and `/`: `my-plugin/prices`. */
  addFilter(name: string, namespace: string, callback: AnyCallback, priority?: number): Undo;
  addAction(name: string, namespace: string, callback: AnyCallback, priority?: number): Undo;
  /** Removes all callbacks of the namespace, whatever their priority; answers how many. */
  removeFilter(name: string, namespace: string): number;
  removeAction(name: string, namespace: string): number;
  /** Removes what was added with a namespace; answers how many. Callbacks added without one stay. */
  removeAllFilters(name: string): number;
  removeAllActions(name: string): number;
  /** Whether the hook has callbacks of the namespace; without one, any at all. */
  hasFilter(name: string, namespace?: string): boolean;
  hasAction(name: string, namespace?: string): boolean;
  applyFilters(name: string, value?: unknown, ...args: unknown[]): unknown;
  applyFiltersAsync(name: string, value?: unknown, ...args: unknown[]): Promise<unknown>;
  doAction(name: string, ...args: unknown[]): void;
  doActionAsync(name: string, ...args: unknown[]): Promise<void>;
  /** Name of the innermost hook that runs, or null. */
  currentFilter(): string | null;
  currentAction(): string | null;
  doingFilter(name?: string): boolean;
  doingAction(name?: string): boolean;
  didFilter(name: string): number;
  didAction(name: string): number;
}
