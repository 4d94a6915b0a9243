import gt from 'semver/functions/gt.js';
import { endSentence, errorText, type Clock, type Migration, type PluginUpgrade } from '#plugin-api';
import type { StoredVersions } from './stored-state.ts';

export interface UpgradeServices {
  /** Ids of migrations that have not run. */
  pending(slug: string, migrations: readonly Migration[]): Promise<readonly string[]>;
  /** Runs pending migrations and then the work in one transaction. Only one process at a time enters it. */
  together<Result>(slug: string, migrations: readonly Migration[], work: () => Promise<Result>): Promise<Result>;
  /** Backs up the database. Returns the display name, or null for a database in memory. */
  backup(name: string): Promise<string | null>;
  /** The last backup before an upgrade of the plugin, with the name that `backup` returned. */
  lastBackup(slug: string): Promise<string | null>;
}

/** The plugin is too old for the data. It remains active, because other nodes may run the newer version. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError';
}

/** An upgrade that failed and was rolled back. */
export class UpgradeError extends Error {
  override readonly name = 'UpgradeError';
  readonly versions: PluginUpgrade;
  readonly stage: string;
  readonly reason: string;
  /** Null: no backup was needed. */
  readonly backup: string | null;

  constructor({
    versions,
    stage,
    backup,
    cause,
  }: {
    versions: PluginUpgrade;
    stage: string;
    backup: string | null;
    cause: unknown;
  }) {
    const reason = errorText(cause);
    const saved = backup === null ? '' : ` The backup is ${backup}.`;
    super(
      `Failed to upgrade from ${versions.from} to ${versions.to}: ${endSentence(reason)} ` +
        `The database was rolled back; restore version ${versions.from} in its folder, or install a fixed version.${saved}`,
      { cause },
    );
    this.versions = versions;
    this.stage = stage;
    this.reason = reason;
    this.backup = backup;
  }
}

/** Decides whether a version needs an upgrade before it starts, and runs it. */
export interface Upgrades {
  /** @throws BlockedError if a newer version ran before. */
  due(slug: string, version: string): Promise<PluginUpgrade | null>;
  /** Records the running version. Returns whether this process changed the record. */
  record(slug: string, version: string): Promise<boolean>;
  /** Backs up if migrations are pending, then migrates and runs the work in one transaction. */
  run<Result>(upgrade: {
    readonly slug: string;
    readonly versions: PluginUpgrade;
    readonly migrations: readonly Migration[];
    readonly work: () => Promise<Result>;
  }): Promise<Result>;
}

export function createUpgrades({
  versions,
  services,
  clock,
}: {
  versions: StoredVersions;
  services: UpgradeServices;
  clock: Clock;
}): Upgrades {
  return {
    async due(slug, version) {
      const from = await versions.read(slug);
      if (from === null || from === version) return null;
      if (gt(version, from)) return { from, to: version };
      if (!gt(from, version)) return null;
      const backup = await services.lastBackup(slug).catch(() => null);
      const restore =
        backup === null ? 'restore an earlier backup' : `restore the backup (npm run cli -- db restore ${backup})`;
      throw new BlockedError(
        `Version ${version} is installed, but version ${from} has run on this site; install ${from} or newer, or ${restore}.`,
      );
    },
    record: (slug, version) => versions.set(slug, version),
    async run({ slug, versions: { from, to }, migrations, work }) {
      let backup: string | null = null;
      let stage = 'migrate';
      try {
        const pending = migrations.length === 0 ? [] : await services.pending(slug, migrations);
        stage = 'backup';
        if (pending.length > 0) backup = await services.backup(`${slug}-${from}-${to}-${stamp(clock)}`);
        stage = 'migrate';
        return await services.together(slug, migrations, async () => {
          stage = 'register';
          return work();
        });
      } catch (cause) {
        const thrown = (cause as { stage?: unknown } | null)?.stage;
        throw new UpgradeError({
          versions: { from, to },
          stage: typeof thrown === 'string' ? thrown : stage,
          backup,
          cause,
        });
      }
    },
  };
}

/** Timestamp for file names that sort by time: `20260102T030405678Z`. */
export function stamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/[-:.]/g, '');
}

/** For a loader whose database is not backed up. */
export function withoutBackups(
  migrate: (slug: string, migrations: readonly Migration[]) => Promise<void>,
): UpgradeServices {
  return {
    pending: async () => [],
    async together(slug, migrations, work) {
      if (migrations.length > 0) await migrate(slug, migrations);
      return work();
    },
    backup: async () => null,
    lastBackup: async () => null,
  };
}
