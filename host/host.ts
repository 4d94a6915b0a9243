import type { Clock, RecentFailure } from '#plugin-api';
import { createCliRegistry, type CliRegistry } from './cli/registry.ts';
import { createSystemClock } from './clock.ts';
import type { Config } from './start/config.ts';
import { createCore, type Core } from './core.ts';
import type { Loader } from './loader/loader.ts';
import type { PluginFolders } from './log/plugin-folders.ts';
import { addHostPages } from './host-pages.ts';
import { createPlugins } from './plugins.ts';
import { createWeb, type Web } from './web.ts';
import { addAbilitiesRoutes } from './abilities/abilities-routes.ts';
import { addMcpRoute } from './abilities/mcp/mcp-route.ts';
import { addContentRoutes } from './content/rest/content-routes.ts';
import { addHooksRoute } from './hooks/hooks-route.ts';
import { addPluginsRoutes } from './loader/plugins-routes.ts';
import { addSettingsRoutes } from './options/settings-routes.ts';
import { translateSchema } from './rest/openapi/schema.ts';
import { addRoutesRoute } from './rest/routes-route.ts';
import { addApplicationPasswordRoutes } from './users/application-password-routes.ts';
import { createAvatarUrl } from './users/avatars.ts';
import { NotReadyError } from './http/readiness.ts';
import { createHostSiteHealth, type HostSiteHealth } from './site-health/host-site-health.ts';
import { addSiteHealthRoutes } from './site-health/site-health-routes.ts';
import { programRolesOption } from './site-settings.ts';
import { describeUnreadable } from './secrets/secret-stores.ts';
import { addTracesRoutes } from './traces-routes.ts';
import { addUsersRoutes } from './users/users-routes.ts';
import { createWriteProbe } from './write-probe.ts';

export interface HostInit {
  readonly config: Config;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Where log lines go; default standard error. */
  readonly write?: (line: string) => void;
  /** Load and activate only these plugins (slugs). Default: all plugins found, active as stored for the site. */
  readonly only?: readonly string[];
  /** Take the site's address from its settings instead of the environment: for commands. Default false. */
  readonly usesStoredAddress?: boolean;
  /** Gets the folders of the plugins when they start. */
  readonly pluginFolders?: PluginFolders;
  /** See `DatabaseDependencies.image`. */
  readonly databaseImage?: Buffer;
  /** See `CoreDependencies.waits`. */
  readonly waits?: boolean;
}

export interface Host extends Core, Pick<Web, 'rest' | 'admin' | 'views' | 'assets' | 'accounts'> {
  readonly cli: CliRegistry;
  readonly plugins: Loader;
  /**
   * Starts the HTTP server and, unless the role is `web`, cron and jobs. Then runs the action `host_started`, on which plugins
   * start background work. The CLI never runs that action.
   *
   * @returns the site's URL, and the one-time setup link while the site has no administrator.
   */
  start(): Promise<{ readonly url: string; readonly setupLink: string | null }>;
  /** Waits for requests and jobs in progress, stops the plugins and closes the database. Later calls wait for the first. */
  stop(): Promise<void>;
}

/** Milliseconds that requests in progress get to finish when the host stops. */
const requestGraceMs = 10_000;

/**
 * The composition root: opens the database, applies migrations and starts the active plugins. No requests are
 * accepted before `start`.
 *
 * @throws Error with a remedy when the database cannot be opened or is newer than this version. Everything opened so
 *   far is closed first. A failing plugin never throws here.
 */
export async function createHost({
  config,
  clock = createSystemClock(),
  write,
  pluginFolders,
  databaseImage,
  waits = false,
  usesStoredAddress = false,
  ...init
}: HostInit): Promise<Host> {
  const core = await createCore({
    ...{ config, clock, waits },
    ...(write && { write }),
    ...(pluginFolders && { pluginFolders }),
    ...(databaseImage && { databaseImage }),
  });
  try {
    if (usesStoredAddress) await core.site.useStoredAddress();
    return await composeHost({ core, isSite: !usesStoredAddress, ...init });
  } catch (error) {
    await closeCore(core);
    throw error;
  }
}

async function composeHost({
  core,
  ...init
}: { readonly core: Core; readonly isSite: boolean } & Pick<HostInit, 'only'>): Promise<Host> {
  const { config } = core;
  // Web and CLI are created before the plugins and look them up on use.
  const loaded: { plugins?: Loader } = {};
  const requirePlugins = (): Loader => {
    if (loaded.plugins === undefined) throw new Error('The plugins are not loaded yet.');
    return loaded.plugins;
  };
  const cli = createCliRegistry(
    async (first) =>
      (await import('./cli/host-commands.ts')).hostCommands(
        { core, accounts: web.accounts, plugins: requirePlugins, start: () => host.start() },
        first,
      ),
    { locale: config.locale, translations: core.translations },
  );
  const web = createWeb({
    core,
    plugins: {
      list: () => requirePlugins().list(),
      activate: (slug) => requirePlugins().activate(slug),
      deactivate: (slug) => requirePlugins().deactivate(slug),
      uninstall: (slug, init) => requirePlugins().uninstall(slug, init),
      install: (installation) => requirePlugins().install(installation),
      health: (slug) => requirePlugins().health(slug),
    },
    checks: createChecks(core, () => loaded.plugins),
    warnings: {
      secrets: async () => describeUnreadable(await core.secrets.unreadable()),
      ...(!config.requiresPlugins && { plugins: async () => describeStopped(loaded.plugins) }),
    },
  });
  reportUnreadableSecrets({ core, web });
  const health = createHostSiteHealth({ core, plugins: requirePlugins });
  addHostRoutes({ core, web, health, plugins: requirePlugins });
  addHostPages({ core, web, health });
  const plugins = await createPlugins({ core, web, cli, ...init });
  loaded.plugins = plugins;
  let stopping: Promise<void> | undefined;

  const host: Host = {
    ...core,
    rest: web.rest,
    admin: web.admin,
    views: web.views,
    assets: web.assets,
    accounts: web.accounts,
    cli,
    plugins,
    async start() {
      await web.origins.follow();
      await web.anonymousLimit.follow();
      const { url } = await web.server.listen({ port: config.port, host: config.host });
      await core.site.setAddress(url);
      core.eventLoop.start();
      await createFirstAdministrator(core);
      const isWorker = config.role !== 'web';
      if (isWorker) await core.cron.start();
      await core.jobs.start({ claims: isWorker });
      await core.hooks.doActionAsync('host_started');
      return { url, setupLink: await web.setup.ensureLink() };
    },
    stop: () => (stopping ??= stop({ core, web, plugins })),
  };
  return host;
}

/** Names the active plugins that do not run on this node: missing, older than the data, or stopped after an error. */
function describeStopped(plugins: Loader | undefined): string | null {
  const stopped = plugins?.list().filter(({ isActive, state }) => isActive && state === 'failed') ?? [];
  if (stopped.length === 0) return null;
  return stopped
    .map(({ slug, failure }) => `The plugin '${slug}' is active, but does not run here: ${failure?.message ?? ''}`)
    .join(' ');
}

/** @param loaded undefined while the plugins are still being loaded. */
function createChecks(core: Core, loaded: () => Loader | undefined) {
  return {
    database: () =>
      core.database.ping().catch((error: unknown) => {
        if (core.database.dialect !== 'sqlite' || !core.database.isUnavailable(error)) throw error;
        throw new NotReadyError('Another process has locked the database, or its disk fails. It is tried again.', {
          cause: error,
        });
      }),
    storage: createWriteProbe({
      ...{ folder: core.site.dataDir, hasDatabase: core.database.dialect === 'sqlite', clock: core.clock },
    }),
    migrations: async () => {
      const missing = (await core.database.migrationStatus()).filter(({ appliedAt }) => appliedAt === null);
      if (missing.length > 0)
        throw new Error(
          `Migrations not applied: ${missing.map(({ owner, id }) => `${owner} ${id}`).join(', ')}. Run: npm run cli -- db migrate`,
        );
    },
    plugins: async () => {
      const plugins = loaded();
      if (plugins === undefined) throw new Error('The plugins are still being loaded.');
      const stopped = core.config.requiresPlugins ? describeStopped(plugins) : null;
      if (stopped !== null) throw new NotReadyError(stopped);
    },
    version: async () => {
      const [tooOld] = (await core.database.findTooOld()).values();
      const blocked = loaded()
        ?.list()
        .find(({ failure }) => failure?.stage === 'version');
      const reason = tooOld ?? blocked?.failure?.message;
      if (reason !== undefined) throw new NotReadyError(reason);
    },
  };
}

/** A badge on every admin page, a line on the dashboard and a figure in `/metrics` while saved secrets cannot be read. */
function reportUnreadableSecrets({ core, web }: { readonly core: Core; readonly web: Web }): void {
  web.admin.api.addBadge(async () => {
    const labels = await core.secrets.unreadable();
    const title = describeUnreadable(labels);
    if (title === null) return null;
    return {
      text: labels.length === 1 ? 'SECRET UNREADABLE' : `${labels.length} SECRETS UNREADABLE`,
      kind: 'warning',
      href: web.admin.api.url(),
      title,
    };
  });
  core.hooks.addFilter('admin_recent_failures', async (failures: readonly RecentFailure[]) => {
    const text = describeUnreadable(await core.secrets.unreadable());
    return text === null ? failures : [{ source: 'Saved secrets', text }, ...failures];
  });
  web.metrics.api.add(async () => [
    {
      name: 'host_secrets_unreadable',
      type: 'gauge',
      help: 'Saved secrets that this process cannot decrypt.',
      samples: [{ value: (await core.secrets.unreadable()).length }],
    },
  ]);
}

/** Creates the first administrator from `ADMIN_USER`, `ADMIN_PASSWORD` and `ADMIN_EMAIL`, unless one exists. */
async function createFirstAdministrator({ config, users, database, log }: Core): Promise<void> {
  const { admin } = config;
  if (admin === null) return;
  await database.transaction(async () => {
    await database.lock('first_administrator');
    if (await users.hasAdministrator()) return;
    const { id } = await users.create({
      login: admin.login,
      email: admin.email,
      password: admin.password,
      role: 'administrator',
    });
    log.info('First administrator created from the environment', { event: 'first_administrator_created', user: id });
  });
}

/** Stops components outside-in, so each one's dependencies are still available. */
async function stop({
  core,
  web,
  plugins,
}: {
  readonly core: Core;
  readonly web: Web;
  readonly plugins: Loader;
}): Promise<void> {
  web.server.drain();
  await web.server.close(requestGraceMs);
  await web.accounts.passwords.settled();
  await core.cron.stop();
  await core.jobs.stop();
  await plugins.stop();
  await closeCore(core);
}

async function closeCore({
  eventLoop,
  content,
  options,
  documents,
  http,
  mail,
  securityLog,
  database,
}: Core): Promise<void> {
  eventLoop.stop();
  await mail.stop();
  await content.stop();
  options.stop();
  await documents.close();
  await http.close();
  await securityLog.stop();
  await database.close();
}

/** The REST routes of the host's own parts. */
function addHostRoutes({
  core,
  web,
  health,
  plugins,
}: {
  readonly core: Core;
  readonly web: Web;
  readonly health: HostSiteHealth;
  readonly plugins: () => Loader;
}): void {
  const { hooks, options, users, site, content, clock } = core;
  const { rest, applicationPasswords, applicationPasswordAccess: access } = web;
  const avatarUrl = createAvatarUrl({ hooks, siteUrl: () => site.url });
  addUsersRoutes(rest, {
    users,
    hooks,
    siteUrl: () => site.url,
    avatarUrl,
    programs: {
      isProgram: (user) => applicationPasswords.usedBy(user) !== null,
      mayAssignRoles: async () => (await options.get<unknown>(programRolesOption)) === true,
    },
  });
  addApplicationPasswordRoutes(rest, { users, applicationPasswords, access });
  addSettingsRoutes(rest, { options });
  addHooksRoute(rest, { hooks });
  addRoutesRoute(rest);
  addTracesRoutes(rest, core);
  addPluginsRoutes(rest, { plugins });
  addSiteHealthRoutes(rest, { ...health, hooks });
  addAbilitiesRoutes(rest, core);
  addMcpRoute(rest, { ...core, rest, translateSchema, isAllowedOrigin: web.origins.isAllowed });
  core.abilities.addSource(async () => {
    const { registerHostAbilities } = await import('./abilities/host-abilities.ts');
    registerHostAbilities(core.abilities, { ...core, ...health, rest, databaseLabel: core.database.label });
  });
  const { passwords, countComment } = web;
  const { parts } = content;
  const transaction = core.database.transaction.bind(core.database);
  addContentRoutes({
    rest,
    parts,
    hooks,
    transaction,
    options,
    users,
    site,
    clock,
    passwords,
    countComment,
    avatarUrl,
  });
}
