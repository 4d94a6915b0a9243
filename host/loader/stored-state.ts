import type { Clock, Logger, OptionsApi } from '#plugin-api';

export type LoaderOptions = Pick<OptionsApi, 'get' | 'update' | 'compareAndSet'>;

/** What went wrong with a plugin, and when. */
export interface PluginFailure {
  /** `discover`, `manifest`, `requires`, `import`, `migrate`, `register`, `activate`, or a later one: `deactivate`, `action`, `route`, ... */
  readonly stage: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A list of slugs kept in an option that other processes change as well. */
export interface StoredSlugs {
  read(): Promise<readonly string[]>;
  /** Answer whether the list changed by it, so that of several processes one knows it was the one. */
  add(slug: string): Promise<boolean>;
  remove(slug: string): Promise<boolean>;
}

export function createStoredSlugs(options: LoaderOptions, name: string): StoredSlugs {
  const change = (edit: (slugs: readonly string[]) => readonly string[]): Promise<boolean> =>
    changeOption(options, name, (stored) => edit(slugsOf(stored)));
  return {
    read: async () => slugsOf(await options.get<unknown>(name)),
    add: (slug) => change((slugs) => (slugs.includes(slug) ? slugs : [...slugs, slug])),
    remove: (slug) => change((slugs) => (slugs.includes(slug) ? slugs.filter((each) => each !== slug) : slugs)),
  };
}

/** The last failure of each plugin, kept over restarts. */
export interface StoredFailures {
  /** Reads what is stored, also by other processes. */
  load(): Promise<void>;
  get(slug: string): PluginFailure | null;
  set(slug: string, failure: PluginFailure): Promise<void>;
  /** Like `set`, but stored within a second, for failures that may come by the thousand. */
  note(slug: string, failure: PluginFailure): void;
  clear(slug: string): Promise<void>;
  /** Stores what was only noted. */
  flush(): Promise<void>;
}

/** Milliseconds in which noted failures are gathered into one write. */
const gathering = 1_000;

export function createStoredFailures({
  options,
  clock,
  log,
}: {
  options: LoaderOptions;
  clock: Clock;
  log: Logger;
}): StoredFailures {
  let failures: Readonly<Record<string, PluginFailure>> = {};
  const noted = new Map<string, PluginFailure>();
  let waiting = false;

  const store = async (
    edit: (stored: Record<string, PluginFailure>) => Record<string, PluginFailure>,
  ): Promise<void> => {
    await changeOption(
      options,
      'plugin_failures',
      (stored) => (failures = edit({ ...failuresOf(stored), ...Object.fromEntries(noted) })),
    );
    noted.clear();
  };
  const flush = async (): Promise<void> => {
    waiting = false;
    if (noted.size > 0) await store((stored) => stored);
  };

  return {
    async load() {
      failures = failuresOf(await options.get<unknown>('plugin_failures'));
    },
    get: (slug) => noted.get(slug) ?? (Object.hasOwn(failures, slug) ? (failures[slug] ?? null) : null),
    set: (slug, failure) => store((stored) => ({ ...stored, [slug]: failure })),
    note(slug, failure) {
      noted.set(slug, failure);
      if (waiting) return;
      waiting = true;
      clock.after(
        gathering,
        () =>
          void flush().catch((error: unknown) =>
            log.error('The failure of a plugin could not be stored.', { plugin: slug, error }),
          ),
      );
    },
    async clear(slug) {
      noted.delete(slug);
      await store((stored) => Object.fromEntries(Object.entries(stored).filter(([each]) => each !== slug)));
    },
    flush,
  };
}

/** Edits an option that other processes may be editing too; answers whether the edit changed it. */
export async function changeOption<Value>(
  options: LoaderOptions,
  name: string,
  edit: (stored: unknown) => Value,
): Promise<boolean> {
  let next: Value | undefined;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const stored = await options.get<unknown>(name);
    next = edit(stored);
    if (JSON.stringify(next) === JSON.stringify(stored === false ? emptyLike(next) : stored)) return false;
    if (await options.compareAndSet(name, stored === false ? undefined : stored, next)) return true;
  }
  // What `get` answers is not what is stored, by a filter or a default; the plain write then decides.
  return options.update(name, next);
}

function emptyLike(value: unknown): unknown {
  return Array.isArray(value) ? [] : {};
}

function slugsOf(stored: unknown): readonly string[] {
  return Array.isArray(stored) ? stored.filter((slug): slug is string => typeof slug === 'string') : [];
}

function failuresOf(stored: unknown): Record<string, PluginFailure> {
  return typeof stored === 'object' && stored !== null && !Array.isArray(stored)
    ? { ...(stored as Record<string, PluginFailure>) }
    : {};
}

/** Which version of each plugin ran last, in the option `plugin_versions`: what its data was made for. */
export interface StoredVersions {
  /** Null: it has never run here. */
  read(slug: string): Promise<string | null>;
  /** Answers whether the record changed by it, so that of several processes one knows it was the one. */
  set(slug: string, version: string): Promise<boolean>;
  forget(slug: string): Promise<void>;
}

export function createStoredVersions(options: LoaderOptions): StoredVersions {
  const change = (edit: (versions: Readonly<Record<string, string>>) => Record<string, string>): Promise<boolean> =>
    changeOption(options, 'plugin_versions', (stored) => edit(versionsOf(stored)));
  return {
    async read(slug) {
      const versions = versionsOf(await options.get<unknown>('plugin_versions'));
      return Object.hasOwn(versions, slug) ? (versions[slug] ?? null) : null;
    },
    set: (slug, version) => change((versions) => ({ ...versions, [slug]: version })),
    forget: async (slug) =>
      void (await change((versions) => Object.fromEntries(Object.entries(versions).filter(([each]) => each !== slug)))),
  };
}

function versionsOf(stored: unknown): Record<string, string> {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return {};
  return Object.fromEntries(
    Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
