import type { AnyCallback } from './hooks.ts';
import type { Undo } from './undo.ts';

/**
 * The API of @wordpress/hooks for the host's hooks: `host.api.withNamespaces(host.hooks)`. Each callback has a namespace, and
 * is removed by it. Deactivating a plugin removes its callbacks, as always.
 */
export interface NamespacedHooks {
  /** @param namespace starts with a letter; letters, digits, `_`, `.`, `-` and `/`: `my-plugin/prices`. */
  addFilter(name: string, namespace: string, callback: AnyCallback, priority?: number): Undo;
  addAction(name: string, namespace: string, callback: AnyCallback, priority?: number): Undo;
  /** Removes all callbacks of the namespace, at any priority. Returns their number. */
  removeFilter(name: string, namespace: string): number;
  removeAction(name: string, namespace: string): number;
  /** Removes all callbacks with a namespace. Returns their number. Callbacks without a namespace stay. */
  removeAllFilters(name: string): number;
  removeAllActions(name: string): number;
  /** Whether the hook has callbacks of the namespace; without one, any at all. */
  hasFilter(name: string, namespace?: string): boolean;
  hasAction(name: string, namespace?: string): boolean;
  applyFilters(name: string, value?: unknown, ...args: unknown[]): unknown;
  applyFiltersAsync(name: string, value?: unknown, ...args: unknown[]): Promise<unknown>;
  doAction(name: string, ...args: unknown[]): void;
  doActionAsync(name: string, ...args: unknown[]): Promise<void>;
  /** Name of the innermost running hook, or null. */
  currentFilter(): string | null;
  currentAction(): string | null;
  doingFilter(name?: string): boolean;
  doingAction(name?: string): boolean;
  didFilter(name: string): number;
  didAction(name: string): number;
}
