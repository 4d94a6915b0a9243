import { resolve } from 'node:path';
import type { Clock, Logger } from '#plugin-api';
import type { Config } from '../start/config.ts';
import { hostMigrations } from '../core.ts';
import { openDatabase, type Database, type RestoreReport } from '../database/database.ts';
import { readMigrations } from '../loader/load.ts';
import { hostVersion } from '../site.ts';

/** The file of `db restore <file>`, which must work even if the site cannot start. */
export function fileToRestore(argv: readonly string[]): string | null {
  const [first, second, file, ...rest] = argv.filter((argument) => argument !== '--json');
  return first === 'db' && second === 'restore' && file !== undefined && rest.length === 0 ? file : null;
}

/** Restores a backup without starting the site. @throws Error like `Database.restore`. */
export async function rescue({
  config,
  file,
  clock,
  log,
  onTable,
}: {
  readonly config: Config;
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onTable: Parameters<Database['restore']>[1];
}): Promise<RestoreReport> {
  const { databaseUrl, databaseDirectUrl, dataDir } = config;
  const database = await openDatabase({ databaseUrl, databaseDirectUrl, dataDir, log, clock });
  try {
    database.declareMigrations('host', hostMigrations);
    for (const [slug, migrations] of await readMigrations({ pluginDirs: config.pluginDirs, hostVersion }))
      database.declareMigrations(slug, migrations);
    return await database.restore(resolve(file), onTable);
  } finally {
    await database.close();
  }
}
