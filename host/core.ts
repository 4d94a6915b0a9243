import { fileURLToPath } from 'node:url';
import { createAbilities } from './abilities/abilities.ts';
import type { Clock, Logger, Migration } from '#plugin-api';
import { createBackups, type Backups } from './backups.ts';
import type { Config } from './start/config.ts';
import { createSystemClock, createClockJumps } from './clock.ts';
import { createContent, migrations as contentMigrations } from './content/content.ts';
import { createCron, migrations as cronMigrations } from './cron/cron.ts';
import { openDatabase, type Database } from './database/database.ts';
import { createDocuments } from './documents/documents.ts';
import { createHooks } from './hooks/hooks.ts';
import { keepShownValues } from './hooks/shown-filters.ts';
import { findProxyInEnvironment } from './http/egress-proxy.ts';
import { createGuardedSocket } from './http/guarded-socket.ts';
import { createEventLoopWatch } from './http/event-loop.ts';
import { createOutbound } from './http/outbound.ts';
import { createJobs, migrations as jobMigrations } from './jobs/jobs.ts';
import { createLogger } from './log/log.ts';
import { createPluginFolders, type PluginFolders } from './log/plugin-folders.ts';
import { createRedactor, type Redactor } from './log/redactor.ts';
import { createMail } from './mail/mail.ts';
import { migrations as mailMigrations } from './mail/migrations.ts';
import {
  createOptions,
  migrations as optionMigrations,
  type Options,
  type OptionsDependencies,
} from './options/options.ts';
import { compileSchema } from './options/setting-schema.ts';
import { haveOtherSecrets } from './options/setting-secrets.ts';
import { createFormerKeys } from './secrets/former-keys.ts';
import { createSecrets, type Secrets, type SecretsDependencies } from './secrets/secrets.ts';
import { findSchemaError, sanitizeValue } from './rest/schema/validate.ts';
import { registerSiteSettings } from './site-settings.ts';
import { recordSecurityEvents } from './security-log/record-events.ts';
import { createSecurityLog, migrations as securityLogMigrations } from './security-log/security-log.ts';
import { createSite, migrations as siteMigrations } from './site.ts';
import { createApplicationPasswords } from './users/application-passwords.ts';
import { migrations as userMigrations } from './users/migrations.ts';
import { disallowFileMods } from './users/user.ts';
import { createTwoFactor } from './users/two-factor/two-factor.ts';
import { createUsers } from './users/users.ts';
import { createPluginServices } from './loader/plugin-services.ts';
import { createTracer } from './tracer.ts';
import { createTranslations } from './translations.ts';
import { stamp } from './loader/upgrade.ts';

export interface CoreDependencies {
  readonly config: Config;
  readonly clock: Clock;
  /** Where log lines go; default standard error. */
  readonly write?: (line: string) => void;
  /** Default: empty. The plugins add theirs when they start. */
  readonly pluginFolders?: PluginFolders;
  /** Whether to wait for a database that is late. Default: no. */
  readonly waits?: boolean;
  /** See `DatabaseDependencies.image`. */
  readonly databaseImage?: Buffer;
}

/** The host's own migrations. */
export const hostMigrations: readonly Migration[] = [
  ...optionMigrations,
  ...userMigrations,
  ...cronMigrations,
  ...contentMigrations,
  ...mailMigrations,
  ...securityLogMigrations,
  ...jobMigrations,
  ...siteMigrations,
];

function openSiteDatabase(
  { config, clock, databaseImage: image, waits }: CoreDependencies,
  log: Logger,
): Promise<Database> {
  const { databaseUrl, databaseDirectUrl, dataDir } = config;
  return openDatabase({
    databaseUrl,
    databaseDirectUrl,
    wait: waits ? config.databaseWaitMs : 0,
    dataDir,
    log,
    clock,
    ...(image && { image }),
  });
}

function createSiteLogger(
  { config, clock, write }: CoreDependencies,
  redactor: Redactor,
  pluginOf: PluginFolders['ownerOf'],
): Logger {
  return createLogger({ level: config.logLevel, clock, redactor, pluginOf, ...(write && { write }) });
}

/** Users, and the passwords of their programs, which end with a role or a password. */
function createAccounts(parts: Parameters<typeof createUsers>[0] & { readonly hooks: ReturnType<typeof createHooks> }) {
  const users = createUsers(parts);
  const applicationPasswords = createApplicationPasswords({ ...parts, users });
  parts.hooks.addAction('revoke_user_credentials', async (id) => void (await applicationPasswords.revokeAll(id)));
  return { users, applicationPasswords };
}

/** What measures events and jobs: the event loop's watch, and a clock that never jumps beside the machine's. */
function timing({ trackInBackground }: Pick<ReturnType<typeof createWatches>, 'trackInBackground'>) {
  const readJump = createClockJumps({ wall: createSystemClock().now, elapsed: () => performance.now() });
  return { track: trackInBackground, readJump };
}

/** The parts that need only the database; the CLI and all nodes share them. */
export async function createCore(dependencies: CoreDependencies) {
  const { config, clock, pluginFolders = createPluginFolders() } = dependencies;
  const redactor = createRedactor();
  const log = createSiteLogger(dependencies, redactor, pluginFolders.ownerOf);
  const hooks = createHooks({ log, guardsFilters: true });
  keepShownValues(hooks);
  const database = await openSiteDatabase(dependencies, log);
  const closers: (() => unknown)[] = [() => database.close()];
  try {
    const backups = createBackups({ database, dataDir: config.dataDir });
    await migrateHost({ database, backups, clock, migrations: hostMigrations });
    const { secrets, options } = createSecretOptions({ config, redactor, database, hooks, clock, log });
    closers.unshift(() => options.stop());
    await options.load();
    registerSiteSettings({ options, hooks });
    const { formerKeys, securityLog } = createKeyed({ secrets, database, options, clock, log });
    if (config.disallowFileMods) disallowFileMods(hooks);
    const { users, applicationPasswords } = createAccounts({ database, hooks, clock, log });
    recordSecurityEvents(hooks, securityLog, { users, hasOtherSecrets: hasOtherSecretsIn(options) });
    const watches = createWatches({ database, clock, log });
    closers.unshift(watches.eventLoop.stop);
    const cron = createCron({ database, hooks, clock, log, ...timing(watches) });
    const jobs = createJobs({ database, hooks, cron, clock, log, compileSchema, ...timing(watches) });
    const site = createSite({ config, options });
    const documents = createDocuments({ clock: createSystemClock(), log });
    const connect = createGuardedSocket({ clock });
    const mail = createMail({ options, secrets, database, hooks, jobs, clock, log, site, connect });
    const twoFactor = createTwoFactor({ database, secrets, formerKeys, options, hooks, site, clock, log });
    const { dataDir, uploadsBucket } = config;
    const shared = { database, hooks, options, cron, clock, log, site, documents };
    const content = await createContent({ ...shared, dataDir, uploadsBucket, compileSchema });
    const schema = { findError: findSchemaError, sanitize: sanitizeValue };
    return {
      abilities: createAbilities({ hooks, log, schema }),
      config,
      clock,
      log,
      redactor,
      pluginFolders,
      hooks,
      database,
      backups,
      options,
      secrets,
      formerKeys,
      ...{ users, applicationPasswords, twoFactor },
      cron,
      jobs,
      site,
      content,
      documents,
      securityLog,
      mail,
      http: createOutbound({ clock, log, findProxy: config.usesProxy ? findProxyInEnvironment : null }),
      ...createForPlugins(log),
      ...watches,
    };
  } catch (error) {
    for (const close of closers) await close();
    throw error;
  }
}

/** What finds blocks of the event loop, and where the time of a request goes. Both know a handler by its name. */
function createWatches({
  database,
  clock,
  log,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const tracer = createTracer({ database, clock });
  const watch = createEventLoopWatch({ clock: createSystemClock(), log });
  const track: typeof watch.track = (name, work) => tracer.span('handler', name, () => watch.track(name, work));
  const trackInBackground: typeof watch.track = (name, work) => tracer.background(name, () => watch.track(name, work));
  return { tracer, eventLoop: { ...watch, track }, trackInBackground };
}

/** What plugins use among themselves, and their texts. */
function createForPlugins(log: Logger) {
  const translations = createTranslations({ log });
  translations.addSource('host', fileURLToPath(new URL('languages', import.meta.url)));
  return { services: createPluginServices(), translations };
}

/** Secrets, and options that encrypt those of settings. */
function createSecretOptions({
  config,
  redactor,
  ...services
}: Omit<OptionsDependencies, 'secrets'> & Pick<CoreDependencies, 'config'> & Pick<SecretsDependencies, 'redactor'>) {
  const secrets = createSecrets({ ...config, redactor });
  const options = createOptions({ ...services, secrets });
  secrets.addStore(options.secretStore);
  return { secrets, options };
}

interface KeyedDependencies {
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly database: Database;
  readonly options: Options;
  readonly log: Logger;
}

/** The parts that need the key of the site. */
function createKeyed({ secrets, database, options, clock, log }: KeyedDependencies) {
  const formerKeys = createFormerKeys({ options, secrets, clock });
  const securityLog = createSecurityLog({
    database,
    clock,
    log,
    key: () => secrets.deriveKey('security-log'),
    formerKeys: () => formerKeys.find('security-log'),
  });
  return { formerKeys, securityLog };
}

export type Core = Awaited<ReturnType<typeof createCore>>;

export interface HostMigrationsDependencies {
  readonly database: Database;
  readonly migrations: readonly Migration[];
  readonly backups: Backups;
  readonly clock: Clock;
}

/**
 * Applies all pending host migrations in one transaction. An existing site is backed up first. If a migration fails, the
 * database stays unchanged and the site does not start.
 *
 * @throws Error with the reason and the way to recover, for the operator.
 */
export async function migrateHost({ database, migrations, backups, clock }: HostMigrationsDependencies): Promise<void> {
  database.declareMigrations('host', migrations);
  const pending = await database.pendingMigrations('host', migrations).catch(async (error: unknown) => {
    const backup = await backups.last('host').catch(() => null);
    const describeBackup = (name: string): string =>
      `The last backup before an upgrade is ${name}. To return to it and lose later changes, run: ` +
      `npm run cli -- db restore ${name}`;
    throw notStarted(error, backup === null ? [] : [describeBackup(backup)]);
  });
  const [first] = pending;
  if (first === undefined) return;
  const isNew = !(await database.migrationStatus()).some(({ appliedAt }) => appliedAt !== null);
  const backup = isNew ? null : await backups.write(`host-${first}-${stamp(clock)}`);
  try {
    await database.migrateTogether('host', migrations, async () => undefined);
  } catch (error) {
    throw notStarted(error, [
      'The database is unchanged: start the previous version, or one that fixes this.',
      ...(backup === null ? [] : [`A backup was saved as ${backup}.`]),
    ]);
  }
}

/** @param advice sentences, each of which is translated alone. */
function notStarted(error: unknown, advice: readonly string[]): Error {
  const sentences = ['The site was not started.', (error as Error).message, ...advice];
  return new Error(sentences.join(' '), { cause: error });
}

function hasOtherSecretsIn(options: Pick<Options, 'settings'>) {
  return (name: string, before: unknown, after: unknown): boolean => {
    const setting = options.settings().find((each) => each.name === name);
    return setting !== undefined && haveOtherSecrets(setting.schema, before, after);
  };
}
