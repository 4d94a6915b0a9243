import type { Clock, Logger, Migration } from '#plugin-api';
import { createBackups } from './backups.ts';
import type { Config } from './config.ts';
import { createContent, migrations as contentMigrations } from './content/content.ts';
import { createCron, migrations as cronMigrations } from './cron/cron.ts';
import { openDatabase } from './database/database.ts';
import { createHooks } from './hooks/hooks.ts';
import { migrateHost } from './host-migrations.ts';
import { createOutbound } from './http/outbound.ts';
import { createLogger } from './log/log.ts';
import { createRedactor } from './log/redactor.ts';
import { createOptions, migrations as optionMigrations } from './options/options.ts';
import { compileSchema } from './options/setting-schema.ts';
import { createSecrets } from './secrets/secrets.ts';
import { registerSiteSettings } from './site-settings.ts';
import { createSite } from './site.ts';
import { migrations as userMigrations } from './users/migrations.ts';
import { createUsers } from './users/users.ts';

export interface CoreDependencies {
  readonly config: Config;
  readonly clock: Clock;
  /** Where log lines go; default standard error. */
  readonly write?: (line: string) => void;
}

/** The tables of the host itself, of all its parts. */
export const hostMigrations: readonly Migration[] = [
  ...optionMigrations,
  ...userMigrations,
  ...cronMigrations,
  ...contentMigrations,
];

/** The parts that stand on nothing but the database: what a command line needs as much as a web node. */
export async function createCore({ config, clock, write }: CoreDependencies) {
  const redactor = createRedactor();
  const log: Logger = createLogger({ level: config.logLevel, clock, redactor, ...(write && { write }) });
  const hooks = createHooks({ log });
  const database = await openDatabase({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, log, clock });
  const opened: (() => unknown)[] = [() => database.close()];
  try {
    const backups = createBackups({ database, dataDir: config.dataDir });
    await migrateHost({ database, backups, clock, migrations: hostMigrations });
    const options = createOptions({ database, hooks, clock, log });
    opened.unshift(() => options.stop());
    await options.load();
    registerSiteSettings({ options, hooks });
    const secrets = createSecrets({ secretKey: config.secretKey, dataDir: config.dataDir, redactor });
    const users = createUsers({ database, hooks, clock, log });
    const cron = createCron({ database, hooks, clock, log });
    const site = createSite({ config, options });
    const content = await createContent({
      database,
      hooks,
      options,
      cron,
      clock,
      log,
      site,
      dataDir: config.dataDir,
      compileSchema,
    });
    return {
      config,
      clock,
      log,
      redactor,
      hooks,
      database,
      backups,
      options,
      secrets,
      users,
      cron,
      site,
      content,
      http: createOutbound({ clock }),
    };
  } catch (error) {
    for (const close of opened) await close();
    throw error;
  }
}

export type Core = Awaited<ReturnType<typeof createCore>>;
