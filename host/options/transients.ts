import type { Clock, HooksApi, OptionsApi } from '#plugin-api';
import type { Database } from '../database/database.ts';
import type { CachedOptions } from './cached-options.ts';
import { decodeValue } from './option-values.ts';
import type { StoredOptions } from './stored-options.ts';

export interface TransientsDependencies {
  readonly options: StoredOptions;
  readonly cached: CachedOptions;
  readonly database: Database;
  readonly hooks: HooksApi;
  readonly clock: Clock;
}

export type Transients = Pick<OptionsApi, 'getTransient' | 'setTransient' | 'deleteTransient' | 'remember'> & {
  /** Removes expired transients and returns their number. Safe to run on several nodes at once. */
  deleteExpired(): Promise<number>;
};

const valuePrefix = '_transient_';
const timeoutPrefix = '_transient_timeout_';

/**
 * Values that expire, stored as WordPress stores them: the option `_transient_{name}` and, for those that expire,
 * `_transient_timeout_{name}` with the time in seconds since the epoch.
 */
export function createTransients(dependencies: TransientsDependencies): Transients {
  const { options, cached, database, hooks, clock } = dependencies;
  const seconds = (): number => Math.floor(clock.now() / 1000);
  const making = new Map<string, Promise<unknown>>();

  /** An autoloaded transient never expires and has no timeout. */
  async function hasExpired(name: string): Promise<boolean> {
    await cached.prime([valuePrefix + name, timeoutPrefix + name]);
    if ((await cached.read(valuePrefix + name))?.autoload === true) return false;
    const timeout = await options.get(timeoutPrefix + name);
    return timeout !== false && Number(timeout) < seconds();
  }

  async function getTransient(name: string): Promise<unknown> {
    const instead: unknown = await hooks.applyFiltersAsync(`pre_transient_${name}`, false as unknown, name);
    if (instead !== false) return instead;
    let value: unknown = false;
    if (await hasExpired(name)) {
      await options.delete(valuePrefix + name);
      await options.delete(timeoutPrefix + name);
    } else value = await options.get(valuePrefix + name);
    return hooks.applyFiltersAsync(`transient_${name}`, value, name);
  }

  async function setTransient(name: string, given: unknown, givenExpiry: number): Promise<boolean> {
    if (!Number.isFinite(givenExpiry) || givenExpiry < 0)
      throw new Error(`The transient '${name}' must expire in 0 (never) or more seconds, not ${givenExpiry}.`);
    const value: unknown = await hooks.applyFiltersAsync(`pre_set_transient_${name}`, given, givenExpiry, name);
    const expiresIn = Number(
      await hooks.applyFiltersAsync(`expiration_of_transient_${name}`, givenExpiry as unknown, value, name),
    );
    await cached.prime([valuePrefix + name, timeoutPrefix + name]);
    const stored = await storeTransient(dependencies, {
      name,
      value,
      timeout: expiresIn > 0 ? seconds() + expiresIn : null,
    });
    if (!stored) return false;
    await hooks.doActionAsync(`set_transient_${name}`, value, expiresIn, name);
    await hooks.doActionAsync('set_transient', name, value, expiresIn);
    return true;
  }

  return {
    getTransient: async <Value>(name: string) => (await getTransient(name)) as Value | false,
    setTransient: (name, value, expiresIn = 0) => setTransient(name, value, expiresIn),
    async deleteTransient(name) {
      await hooks.doActionAsync(`delete_transient_${name}`, name);
      if (!(await options.delete(valuePrefix + name))) return false;
      await options.delete(timeoutPrefix + name);
      await hooks.doActionAsync('deleted_transient', name);
      return true;
    },
    async remember<Value>(name: string, expiresIn: number, make: () => Promise<Value>) {
      // Inside a transaction, never wait for other callers: they may be waiting for its connection.
      if (database.currentTransaction() !== null) return rememberOnce(name, expiresIn, make);
      const current = making.get(name);
      if (current !== undefined) return current as Promise<Value>;
      const started = rememberOnce(name, expiresIn, make).finally(() => making.delete(name));
      making.set(name, started);
      return started;
    },
    deleteExpired: () => deleteExpired(cached, seconds()),
  };

  async function rememberOnce<Value>(name: string, expiresIn: number, make: () => Promise<Value>): Promise<Value> {
    const stored = await getTransient(name);
    if (stored !== false) return stored as Value;
    const value = await make();
    await setTransient(name, value, expiresIn);
    return value;
  }
}

interface NewTransient {
  readonly name: string;
  readonly value: unknown;
  /** Seconds since the epoch; null: never expires. */
  readonly timeout: number | null;
}

/** Value and timeout change together, so no node sees a new timeout with an old value. */
async function storeTransient(
  { options, cached, database }: TransientsDependencies,
  { name, value, timeout }: NewTransient,
): Promise<boolean> {
  const [valueName, timeoutName] = [valuePrefix + name, timeoutPrefix + name];
  const exists = (await options.get(valueName)) !== false || (await cached.read(valueName)) !== null;
  if (timeout === null) return exists ? options.update(valueName, value) : options.add(valueName, value);
  return database.transaction(async () => {
    if (exists && (await options.get(timeoutName)) !== false) {
      await options.update(timeoutName, timeout);
      return options.update(valueName, value);
    }
    if (exists) await options.delete(valueName);
    await options.add(timeoutName, timeout, { autoload: false });
    return options.add(valueName, value, { autoload: false });
  });
}

/** A timeout that was renewed meanwhile has a different text and is not removed. */
async function deleteExpired(cached: CachedOptions, now: number): Promise<number> {
  let count = 0;
  for (const [name, { text }] of await cached.list(timeoutPrefix)) {
    if (Number(decodeValue(text)) >= now || !(await cached.remove(name, text))) continue;
    await cached.remove(valuePrefix + name.slice(timeoutPrefix.length));
    count++;
  }
  return count;
}
