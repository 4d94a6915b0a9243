import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostApi, SiteApi } from '#plugin-api';
import type { NewUsageRow } from './usage-row.ts';

/** What the ledger could not store before it stopped. */
export interface SpooledUsage {
  readonly rows: readonly NewUsageRow[];
  /** Ids of the reservations that the calls settle. */
  readonly reservations: readonly string[];
}

/** Stores calls inside the transaction that runs. Returns what to do after the commit. */
export type StoreSpooled = (usage: SpooledUsage) => Promise<() => void>;

/** Files in `DATA_DIR/usage-spool` that outlive the process: each holds what one process could not store before it stopped. */
export interface UsageSpool {
  /** Replaces what this process kept, as a whole; nothing to keep removes the file. Only the owner can read it. */
  keep(usage: SpooledUsage): Promise<void>;
  /**
   * Stores what earlier processes kept, each call once: also if a process ends before it has removed the file, or several start
   * at once. A file that is damaged, or of another version, is renamed and returned. Rejects while the database is unavailable.
   */
  restore(store: StoreSpooled): Promise<readonly SetAside[]>;
}

/** A file that cannot be stored. */
export interface SetAside {
  readonly path: string;
  readonly error: unknown;
}

const ending = '.json';

/** Rises when files of one version cannot be stored by the other. */
const format = 1;

/** @throws Error when a file is to be kept, for a site in memory */
export function createUsageSpool({
  database,
  options,
  clock,
  site,
}: Pick<HostApi, 'database' | 'options' | 'clock' | 'site'>): UsageSpool {
  const folder = folderOf(site);
  const own = `${randomUUID()}${ending}`;

  async function write(path: string, text: string): Promise<void> {
    const draft = await open(`${path}.draft`, 'w', 0o600);
    try {
      await draft.writeFile(text);
      await draft.sync();
    } finally {
      await draft.close();
    }
    await rename(`${path}.draft`, path);
  }

  async function restoreFile(path: string, mark: string, store: StoreSpooled): Promise<void> {
    let afterCommit = (): void => undefined;
    await database.transaction(async () => {
      // Committed with the calls. Another process waits here, and then finds the mark, or no file.
      if (!(await options.add(mark, clock.now(), { autoload: false }))) return;
      const text = await readFile(path, 'utf8').catch(ignoreMissing);
      if (text !== undefined) afterCommit = await store(readUsage(text));
    });
    afterCommit();
    await rm(path, { force: true });
    await options.delete(mark);
  }

  return {
    async keep(usage) {
      if (folder === null) throw new Error('A site in memory has no DATA_DIR.');
      const path = join(folder, own);
      if (usage.rows.length + usage.reservations.length === 0) return rm(path, { force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await write(path, JSON.stringify({ format, ...usage }));
    },
    async restore(store) {
      if (folder === null) return [];
      const setAside: SetAside[] = [];
      for (const file of (await readdir(folder).catch(ignoreMissing)) ?? []) {
        if (!file.endsWith(ending) || file === own) continue;
        const path = join(folder, file);
        try {
          await restoreFile(path, `svc_usage_spool_${file.slice(0, -ending.length)}`, store);
        } catch (error) {
          if (database.isUnavailable(error)) throw error;
          const renamed = `${path}.unreadable`;
          // Another process may have renamed it.
          if ((await rename(path, renamed).then(() => true, ignoreMissing)) === true)
            setAside.push({ path: renamed, error });
        }
      }
      return setAside;
    },
  };
}

/** For a plugin that is uninstalled. */
export async function removeUsageSpool(site: Pick<SiteApi, 'dataDir'>): Promise<void> {
  const folder = folderOf(site);
  if (folder !== null) await rm(folder, { recursive: true, force: true });
}

/** @throws Error for a file that is damaged, or that another version of the service wrote */
function readUsage(text: string): SpooledUsage {
  const { format: found, ...usage } = JSON.parse(text) as SpooledUsage & { readonly format?: unknown };
  if (found === format) return usage;
  throw new Error(`It has the format ${String(found)} instead of ${String(format)}.`);
}

function folderOf({ dataDir }: Pick<SiteApi, 'dataDir'>): string | null {
  return dataDir === null ? null : join(dataDir, 'usage-spool');
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
