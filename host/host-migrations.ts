import type { Clock, Migration } from '#plugin-api';
import type { Backups } from './backups.ts';
import type { Database } from './database/database.ts';
import { stamp } from './loader/upgrade.ts';

export interface HostMigrationsDependencies {
  readonly database: Database;
  readonly migrations: readonly Migration[];
  readonly backups: Backups;
  readonly clock: Clock;
}

/**
 * Brings the host's own tables up to date: all lacking migrations in one transaction, after a backup when there is a
 * site already. So a site is never half migrated: it has the new tables, or it is as before and does not start.
 *
 * @throws Error with the reason and the way back, for the operator.
 */
export async function migrateHost({ database, migrations, backups, clock }: HostMigrationsDependencies): Promise<void> {
  database.declareMigrations('host', migrations);
  const pending = await database.pendingMigrations('host', migrations).catch(async (error: unknown) => {
    const backup = await backups.last('host').catch(() => null);
    const back =
      backup === null
        ? ''
        : ` The last backup from before an upgrade is ${backup}; npm run cli -- db restore ${backup} brings it back and loses what came after.`;
    throw new Error(`The site was not started. ${(error as Error).message}${back}`, { cause: error });
  });
  const [first] = pending;
  if (first === undefined) return;
  const isNew = !(await database.migrationStatus()).some(({ appliedAt }) => appliedAt !== null);
  const backup = isNew ? null : await backups.write(`host-${first}-${stamp(clock)}`);
  try {
    await database.migrateTogether('host', migrations, async () => undefined);
  } catch (error) {
    const saved = backup === null ? '' : ` A backup from before is ${backup}.`;
    throw new Error(
      `The site was not started. ${(error as Error).message} The database is as it was before: start the version that ran last, or one that repairs this.${saved}`,
      { cause: error },
    );
  }
}
