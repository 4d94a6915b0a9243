import { isRecord, type Clock, type Logger, type OptionsApi } from '#plugin-api';

export interface LoaderOptions extends Pick<OptionsApi, 'get' | 'update' | 'compareAndSet' | 'delete'> {
  /** Makes the next read query the database. */
  refresh(name: string): void;
}

export interface PluginFailure {
  /** `discover`, `manifest`, `requires`, `import`, `migrate`, `register`, `activate`, `deactivate`, `action`, `route`, ... */
  readonly stage: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Noted by a process for a command, not by one that serves the site. */
  readonly byCommand?: true;
}

/** A list of slugs in an option that other processes change too. */
export interface StoredSlugs {
  read(): Promise<readonly string[]>;
  /** Makes the next `read` query the database: another process may have changed the list a moment ago. */
  refresh(): void;
  /** Both return whether this call changed the list, so that only one of several processes continues. */
  add(slug: string): Promise<boolean>;
  remove(slug: string): Promise<boolean>;
}

export function createStoredSlugs(options: LoaderOptions, name: string): StoredSlugs {
  const change = (edit: (slugs: readonly string[]) => readonly string[]): Promise<boolean> =>
    changeOption(options, name, (stored) => edit(parseSlugs(stored)));
  return {
    read: async () => parseSlugs(await options.get<unknown>(name)),
    refresh: () => options.refresh(name),
    add: (slug) => change((slugs) => (slugs.includes(slug) ? slugs : [...slugs, slug])),
    remove: (slug) => change((slugs) => (slugs.includes(slug) ? slugs.filter((each) => each !== slug) : slugs)),
  };
}

/** The last failure of each plugin, stored across restarts. */
export interface StoredFailures {
  /** Reads stored failures, including those of other processes. */
  load(): Promise<void>;
  get(slug: string): PluginFailure | null;
  set(slug: string, failure: PluginFailure): Promise<void>;
  /** Like `set`, but stored within a second, because failures may be frequent. */
  note(slug: string, failure: PluginFailure): void;
  clear(slug: string): Promise<void>;
  /** Stores pending failures. */
  flush(): Promise<void>;
}

/** Milliseconds during which failures are collected into one write. */
const flushInterval = 1_000;

export function createStoredFailures({
  options,
  clock,
  log,
  isWanted = async () => true,
  isSite = true,
}: {
  /** Whether this process serves the site, or is one for a command. */
  isSite?: boolean;
  options: LoaderOptions;
  clock: Clock;
  log: Logger;
  /** Whether the plugin is active at this moment. */
  isWanted?: (slug: string) => Promise<boolean>;
}): StoredFailures {
  let failures: Readonly<Record<string, PluginFailure>> = {};
  const pending = new Map<string, PluginFailure>();
  let isScheduled = false;
  const withOrigin = (failure: PluginFailure): PluginFailure => (isSite ? failure : { ...failure, byCommand: true });

  const store = async (
    edit: (stored: Record<string, PluginFailure>) => Record<string, PluginFailure>,
  ): Promise<void> => {
    await changeOption(
      options,
      'plugin_failures',
      (stored) => (failures = edit({ ...parseFailures(stored), ...Object.fromEntries(pending) })),
    );
    pending.clear();
  };
  const flush = async (): Promise<void> => {
    isScheduled = false;
    // Another process may have deactivated a plugin since: its error would make it a failed one.
    for (const slug of pending.keys()) if (!(await isWanted(slug))) pending.delete(slug);
    if (pending.size > 0) await store((stored) => stored);
  };

  return {
    async load() {
      failures = parseFailures(await options.get<unknown>('plugin_failures'));
    },
    get: (slug) => pending.get(slug) ?? (Object.hasOwn(failures, slug) ? (failures[slug] ?? null) : null),
    set: (slug, failure) => store((stored) => ({ ...stored, [slug]: withOrigin(failure) })),
    note(slug, failure) {
      pending.set(slug, withOrigin(failure));
      if (isScheduled) return;
      isScheduled = true;
      clock.after(
        flushInterval,
        () =>
          void flush().catch((error: unknown) =>
            log.error('Failed to store a plugin failure', { event: 'plugin_failure_not_stored', plugin: slug, error }),
          ),
      );
    },
    async clear(slug) {
      pending.delete(slug);
      await store((stored) => Object.fromEntries(Object.entries(stored).filter(([each]) => each !== slug)));
    },
    flush,
  };
}

/** Edits an option that other processes may edit too. Returns whether the value changed. */
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
  // A filter or default makes `get` differ from the stored value, so write without comparing.
  return options.update(name, next);
}

function emptyLike(value: unknown): unknown {
  return Array.isArray(value) ? [] : {};
}

function parseSlugs(stored: unknown): readonly string[] {
  return Array.isArray(stored) ? stored.filter((slug): slug is string => typeof slug === 'string') : [];
}

function parseFailures(stored: unknown): Record<string, PluginFailure> {
  return isRecord(stored) ? { ...(stored as Record<string, PluginFailure>) } : {};
}

/** The settings that each plugin registered when it last started, in the option `plugin_settings`. */
export interface StoredSettings {
  /** Writes only if they differ from the stored ones. */
  set(slug: string, names: readonly string[]): Promise<void>;
  /** Deletes the values of the settings of a plugin, and the record. */
  remove(slug: string): Promise<void>;
}

export function createStoredSettings(options: LoaderOptions): StoredSettings {
  const parse = (stored: unknown): Record<string, readonly string[]> =>
    isRecord(stored)
      ? Object.fromEntries(Object.entries(stored).map(([slug, names]) => [slug, parseSlugs(names)]))
      : {};
  const change = (edit: (stored: Record<string, readonly string[]>) => Record<string, readonly string[]>) =>
    changeOption(options, 'plugin_settings', (stored) => edit(parse(stored)));
  return {
    async set(slug, names) {
      const sorted = [...new Set(names)].sort();
      await change(({ [slug]: _before, ...others }) => (sorted.length === 0 ? others : { ...others, [slug]: sorted }));
    },
    async remove(slug) {
      const { [slug]: names = [] } = parse(await options.get<unknown>('plugin_settings'));
      for (const name of names) await options.delete(name);
      await change(({ [slug]: _before, ...others }) => others);
    },
  };
}

/** The last version of each plugin that ran, in the option `plugin_versions`. The data has the format of that version. */
export interface StoredVersions {
  /** Null: the plugin has never run on this site. */
  read(slug: string): Promise<string | null>;
  /** Returns whether this call changed the record, so that only one of several processes continues. */
  set(slug: string, version: string): Promise<boolean>;
  forget(slug: string): Promise<void>;
}

export function createStoredVersions(options: LoaderOptions): StoredVersions {
  const change = (edit: (versions: Readonly<Record<string, string>>) => Record<string, string>): Promise<boolean> =>
    changeOption(options, 'plugin_versions', (stored) => edit(parseVersions(stored)));
  return {
    async read(slug) {
      const versions = parseVersions(await options.get<unknown>('plugin_versions'));
      return Object.hasOwn(versions, slug) ? (versions[slug] ?? null) : null;
    },
    set: (slug, version) => change((versions) => ({ ...versions, [slug]: version })),
    forget: async (slug) =>
      void (await change((versions) => Object.fromEntries(Object.entries(versions).filter(([each]) => each !== slug)))),
  };
}

function parseVersions(stored: unknown): Record<string, string> {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return {};
  return Object.fromEntries(
    Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
