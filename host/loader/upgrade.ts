import gt from 'semver/functions/gt.js';
import type { Clock, Migration, PluginUpgrade } from '#plugin-api';
import type { StoredVersions } from './stored-state.ts';

/** What upgrading needs of the database. */
export interface UpgradeServices {
  /** Ids of those of the migrations that the database lacks. */
  pending(slug: string, migrations: readonly Migration[]): Promise<readonly string[]>;
  /** The migrations it lacks and then the work in one transaction, which one process at a time is in. */
  together<Result>(slug: string, migrations: readonly Migration[], work: () => Promise<Result>): Promise<Result>;
  /** Writes everything in the database down; answers the name for sentences, or null where nothing outlives the process. */
  backup(name: string): Promise<string | null>;
  /** The last backup that was made before an upgrade of the plugin, named as `backup` does. */
  lastBackup(slug: string): Promise<string | null>;
}

/** It cannot run with the data that is there. It stays among the active plugins, since other nodes may run the version that can. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError';
}

/** An upgrade that was taken back. */
export class UpgradeError extends Error {
  override readonly name = 'UpgradeError';
  readonly versions: PluginUpgrade;
  readonly stage: string;
  readonly reason: string;
  /** Null: there was nothing to lose. */
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    const saved = backup === null ? '' : ` A backup from before is ${backup}.`;
    super(
      `It could not be upgraded from ${versions.from} to ${versions.to}: ${reason} The database is as it was before; put version ${versions.from} back into its folder, or one that repairs this.${saved}`,
      { cause },
    );
    this.versions = versions;
    this.stage = stage;
    this.reason = reason;
    this.backup = backup;
  }
}

/** What is to be done before a version starts: nothing, or an upgrade from the version that ran last. */
export interface Upgrades {
  /** @throws BlockedError when a newer version ran before. */
  due(slug: string, version: string): Promise<PluginUpgrade | null>;
  /** Notes which version runs. Answers whether it was this process that changed the note. */
  record(slug: string, version: string): Promise<boolean>;
  /** Backs up when there is something to migrate, then migrates and does the work, all or nothing. */
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
        backup === null
          ? 'restore a backup made before that'
          : `restore the backup from before that (npm run cli -- db restore ${backup})`;
      throw new BlockedError(
        `Version ${version} is in its folder, and version ${from} has run on this site; put ${from} or a newer one back, or ${restore}.`,
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

/** For names of files that sort by time: `20260102T030405678Z`. */
export function stamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/[-:.]/g, '');
}
