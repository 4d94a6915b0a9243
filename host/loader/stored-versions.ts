import { changeOption, type LoaderOptions } from './stored-state.ts';

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
