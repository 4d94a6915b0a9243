import type { JsonSchema } from './schema.ts';
import type { Undo } from './undo.ts';

export interface OptionWrite {
  /** Load together with other options at start. Default true. */
  readonly autoload?: boolean;
}

export interface SettingDefinition {
  /** Settings of a group share a form, for example `general`. */
  readonly group: string;
  /**
   * Coerces and validates values before they are stored. What it marks `writeOnly`, at any depth, is stored encrypted and
   * never shown (D3); `get` returns it in plain text. Its `default` is returned by `get` when nothing is stored.
   */
  readonly schema: JsonSchema;
  readonly label?: string;
  /** Show in `/wp/v2/settings`, under this name when a string. Default false. */
  readonly showInRest?: boolean | string;
}

/**
 * Named JSON values, cached per process. A change by one process is visible to all others within a second.
 * Values keep their JSON types. Hooks are WordPress's: `pre_option_{name}`, `option_{name}`, `default_option_{name}`,
 * `pre_update_option`, `pre_update_option_{name}`, `update_option`, `update_option_{name}`, `updated_option`, `add_option`, ...
 */
export interface OptionsApi {
  /** The stored value, else `fallback` when one is given, else the registered default, else `false`: WordPress's order. */
  get<Value = unknown>(name: string, fallback?: Value): Promise<Value>;
  /**
   * Returns a reader of a value computed from options. `compute` gets what `get` returns for each name, without a fallback,
   * and runs again only when one of them may have changed, on any node, or when any callback of a hook was added or removed.
   * All callers get the same value, so it must not be changed. If `compute` throws, the reader rejects and keeps nothing.
   *
   * Nothing is kept, and `compute` runs for each call, while a filter changes an option as it is read, for settings with
   * secrets, and within a transaction that wrote an option.
   */
  computed<Value>(
    names: readonly string[],
    compute: (...values: unknown[]) => Value | Promise<Value>,
  ): () => Promise<Value>;
  /** Stores a value. Returns false if it was already equal. Throws RestError 400 if a registered schema refuses it. */
  update(name: string, value: unknown, write?: OptionWrite): Promise<boolean>;
  /** Stores a value only if the name is free. Returns whether it did. */
  add(name: string, value: unknown, write?: OptionWrite): Promise<boolean>;
  delete(name: string): Promise<boolean>;
  /** Stores `next` only if the stored value still equals `expected` (undefined: does not exist). Atomic across all nodes. */
  compareAndSet(name: string, expected: unknown, next: unknown): Promise<boolean>;
  /** Options whose names start with `prefix`, with their values. Secrets of settings are encrypted. */
  list(prefix?: string): Promise<Record<string, unknown>>;
  registerSetting(name: string, definition: SettingDefinition): Undo;
  /** A value that expires; false when absent or expired. */
  getTransient<Value = unknown>(name: string): Promise<Value | false>;
  /** @param expiresIn seconds from now; 0 never expires. */
  setTransient(name: string, value: unknown, expiresIn?: number): Promise<boolean>;
  deleteTransient(name: string): Promise<boolean>;
  /**
   * Returns the transient, or the result of `make`, stored for `expiresIn` seconds. Concurrent callers in a process share one
   * `make`.
   */
  remember<Value>(name: string, expiresIn: number, make: () => Promise<Value>): Promise<Value>;
}
