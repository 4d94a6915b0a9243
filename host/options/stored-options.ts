import { isDeepStrictEqual } from 'node:util';
import type { HooksApi, OptionWrite, OptionsApi } from '#plugin-api';
import type { CachedOptions } from './cached-options.ts';
import type { CachedOption } from './option-cache.ts';
import { cleanName, decodeValue, encodeValue, isSame } from './option-values.ts';
import type { SettingSecrets } from './setting-secrets.ts';
import type { Settings } from './settings.ts';

export interface StoredOptionsDependencies {
  readonly cached: CachedOptions;
  readonly settings: Settings;
  readonly secrets: SettingSecrets;
  readonly hooks: OptionHooks;
}

export interface OptionHooks extends HooksApi {
  /** As `applyFiltersAsync`, but returns the value itself if no callback may return a promise. */
  applyFiltersMaybeAsync(name: string, ...args: unknown[]): unknown;
  /** How often callbacks were added or removed. */
  changes(): number;
}

export type StoredOptions = Pick<
  OptionsApi,
  'get' | 'computed' | 'update' | 'add' | 'delete' | 'compareAndSet' | 'list'
>;

/** Reads and writes options with WordPress's hooks, in WordPress's order. */
export function createStoredOptions(dependencies: StoredOptionsDependencies): StoredOptions {
  const { cached } = dependencies;
  const get = createReader(dependencies);
  const { sanitize, insert, update, remove } = createWriter(dependencies, get);
  return {
    get: <Value>(name: string, fallback?: Value) => get(name, fallback) as Promise<Value>,
    computed: createComputed(dependencies, get),
    async update(name, value, write = {}) {
      const clean = cleanName(name);
      encodeValue(clean, value);
      return clean === '' ? false : update(clean, value, write);
    },
    async add(name, value, write = {}) {
      const clean = cleanName(name);
      encodeValue(clean, value);
      return clean === '' ? false : insert(clean, value, { autoload: write.autoload, replace: false });
    },
    async delete(name) {
      const clean = cleanName(name);
      return clean === '' ? false : remove(clean);
    },
    compareAndSet: (name, expected, next) =>
      compareAndSet(dependencies, { name: cleanName(name), expected, next, sanitize }),
    async list(prefix = '') {
      const found = await cached.list(prefix);
      const isShown = (name: string): boolean => prefix.startsWith('_transient_') || !name.startsWith('_transient_');
      return Object.fromEntries(
        [...found].filter(([name]) => isShown(name)).map(([name, { text }]) => [name, decodeValue(text)]),
      );
    },
  };
}

type Reader = (name: string, fallback: unknown) => Promise<unknown>;

/** A request reads some fifteen options, nearly all of them cached and without callbacks: then it waits for nothing. */
function createReader({ cached, secrets, hooks }: StoredOptionsDependencies): Reader {
  const namesOf = createHookNames();
  return async (given, fallback) => {
    const name = cleanName(given);
    const base = fallback === undefined ? false : fallback;
    if (name === '') return fallback ?? false;
    const hook = namesOf(name);
    let own = hooks.applyFiltersMaybeAsync(hook.before, false, name, base);
    if (own instanceof Promise) own = await own;
    let instead = hooks.applyFiltersMaybeAsync('pre_option', own, name, base);
    if (instead instanceof Promise) instead = await instead;
    if (instead !== false) return instead;
    const known = cached.peek(name);
    const stored = known === undefined ? await cached.read(name) : known;
    if (stored === null) return hooks.applyFiltersMaybeAsync(hook.fallback, base, name, fallback !== undefined);
    return hooks.applyFiltersMaybeAsync(hook.value, secrets.decrypt(name, decodeValue(stored.text)), name);
  };
}

/** What was computed, and from what. */
interface Computed<Value> {
  readonly value: Value;
  readonly entries: readonly (CachedOption | undefined)[];
  readonly changes: number;
}

/**
 * A stored option is another object in the cache after each change, and not cached within a transaction that wrote it: the
 * same objects before and after the read are those that were read.
 */
function createComputed({ cached, secrets, hooks }: StoredOptionsDependencies, get: Reader): OptionsApi['computed'] {
  const hasFilter = (hook: string): boolean => hooks.hasFilter(hook) !== false;
  /** Whether the values may differ while the stored texts are the same. */
  const mayVary = (names: readonly string[]): boolean =>
    hasFilter('all') ||
    hasFilter('pre_option') ||
    names.some(
      (name) =>
        secrets.hasSecrets(name) ||
        hasFilter(`pre_option_${name}`) ||
        hasFilter(`option_${name}`) ||
        // The host's are the defaults of registered settings.
        hooks.owners(`default_option_${name}`).some((owner) => owner !== 'host'),
    );

  return <Value>(given: readonly string[], compute: (...values: unknown[]) => Value | Promise<Value>) => {
    const names = given.map(cleanName);
    let known: Computed<Value> | undefined;
    const isCurrent = ({ entries, changes }: Omit<Computed<Value>, 'value'>): boolean => {
      if (changes !== hooks.changes()) return false;
      for (let index = 0; index < names.length; index++)
        if (entries[index] === undefined || entries[index] !== cached.peek(names[index] as string)) return false;
      return true;
    };
    return async () => {
      if (known !== undefined && isCurrent(known)) return known.value;
      const from = { entries: names.map((name) => cached.peek(name)), changes: hooks.changes() };
      const values = await Promise.all(names.map((name) => get(name, undefined)));
      const mayKeep = isCurrent(from) && !mayVary(names);
      const value = await compute(...values);
      if (mayKeep) known = { value, ...from };
      return value;
    };
  };
}

interface ReaderHooks {
  readonly before: string;
  readonly value: string;
  readonly fallback: string;
}

/** The names of an option's hooks, put together once: a new text is hashed each time that it is looked up. */
function createHookNames(): (name: string) => ReaderHooks {
  const known = new Map<string, ReaderHooks>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const names = { before: `pre_option_${name}`, value: `option_${name}`, fallback: `default_option_${name}` };
    if (known.size >= 1000) known.clear();
    known.set(name, names);
    return names;
  };
}

interface Writer {
  sanitize(name: string, value: unknown): Promise<unknown>;
  /** @param write `replace`: the insert of an update; the last writer wins. */
  insert(
    name: string,
    value: unknown,
    write: { readonly autoload: boolean | undefined; readonly replace: boolean },
  ): Promise<boolean>;
  update(name: string, value: unknown, write: OptionWrite): Promise<boolean>;
  remove(name: string): Promise<boolean>;
}

function createWriter({ cached, settings, secrets, hooks }: StoredOptionsDependencies, get: Reader): Writer {
  const filter = (name: string, value: unknown, ...args: unknown[]): Promise<unknown> =>
    hooks.applyFiltersAsync(name, value, ...args);
  const doAction = (name: string, ...args: unknown[]): Promise<void> => hooks.doActionAsync(name, ...args);
  const registeredDefault = (name: string): Promise<unknown> => filter(`default_option_${name}`, false, name, false);

  async function sanitize(name: string, value: unknown): Promise<unknown> {
    const clean = await settings.check(name, await filter(`sanitize_option_${name}`, value, name, value));
    encodeValue(name, clean);
    return clean;
  }

  const insert: Writer['insert'] = async (name, value, { autoload = true, replace }) => {
    const clean = await sanitize(name, value);
    if (!cached.isKnownAbsent(name) && !isSame(await registeredDefault(name), await get(name, undefined))) return false;
    await doAction('add_option', name, clean);
    const option = { name, text: encodeValue(name, secrets.encrypt(name, clean)), autoload };
    if (replace) await cached.put(option);
    else if (!(await cached.insert(option))) return false;
    await doAction(`add_option_${name}`, name, clean);
    await doAction('added_option', name, clean);
    return true;
  };

  return {
    sanitize,
    insert,
    async update(name, value, { autoload }) {
      const clean = await sanitize(name, value);
      // Compare with the stored value: a very recent change by another process must not turn this update into a no-op.
      cached.refresh(name);
      const old = await get(name, undefined);
      const next = await filter(
        'pre_update_option',
        await filter(`pre_update_option_${name}`, clean, old, name),
        name,
        old,
      );
      encodeValue(name, next);
      const stored = (await cached.read(name))?.text;
      // Saving a secret again encrypts it if it was stored in plain text.
      if (isSame(next, old) && (stored === undefined || !secrets.hasPlain(name, stored))) return false;
      const text = encodeValue(name, secrets.encrypt(name, next, stored));
      if (isSame(await registeredDefault(name), old)) return insert(name, next, { autoload, replace: true });
      await doAction('update_option', name, old, next);
      await cached.put({ name, text, autoload });
      await doAction(`update_option_${name}`, old, next, name);
      await doAction('updated_option', name, old, next);
      return true;
    },
    async remove(name) {
      cached.refresh(name);
      if ((await cached.read(name)) === null) return false;
      await doAction('delete_option', name);
      if (!(await cached.remove(name))) return false;
      await doAction(`delete_option_${name}`, name);
      await doAction('deleted_option', name);
      return true;
    },
  };
}

interface Exchange {
  readonly name: string;
  readonly expected: unknown;
  readonly next: unknown;
  readonly sanitize: (name: string, value: unknown) => Promise<unknown>;
}

/**
 * Compares by value, swaps by text in one SQL statement: a concurrent change wins. On success the actions of an add or an
 * update run. Read filters do not apply, because they may return values that are not stored.
 */
async function compareAndSet(
  { cached, secrets, hooks }: StoredOptionsDependencies,
  { name, expected, next, sanitize }: Exchange,
): Promise<boolean> {
  const clean = await sanitize(name, next);
  if (expected === undefined) {
    const text = encodeValue(name, secrets.encrypt(name, clean));
    if (!(await cached.insert({ name, text, autoload: true }))) return false;
    await hooks.doActionAsync(`add_option_${name}`, name, clean);
    await hooks.doActionAsync('added_option', name, clean);
    return true;
  }
  for (;;) {
    cached.refresh(name);
    const stored = await cached.read(name);
    if (stored === null || !isDeepStrictEqual(secrets.decrypt(name, decodeValue(stored.text)), expected)) return false;
    const text = encodeValue(name, secrets.encrypt(name, clean, stored.text));
    if (await cached.swap(name, stored.text, text)) break;
    // Changed since it was read, perhaps to another text of the same value: retry.
  }
  await hooks.doActionAsync(`update_option_${name}`, expected, clean, name);
  await hooks.doActionAsync('updated_option', name, expected, clean);
  return true;
}
