import type { Clock } from '#plugin-api';
import { createCliRegistry, type CliRegistry } from './cli/registry.ts';
import { createSystemClock } from './clock.ts';
import type { Config } from './config.ts';
import { createCore, type Core } from './core.ts';
import type { Loader } from './loader/loader.ts';
import { addHostPages } from './host-pages.ts';
import { addHostRoutes } from './host-routes.ts';
import { createPlugins } from './plugins.ts';
import { createWeb, type Web } from './web.ts';

export interface HostInit {
  readonly config: Config;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Where log lines go; default standard error. */
  readonly write?: (line: string) => void;
  /** Slugs of the only plugins to look at, all of them active. Default: every plugin found, active as the site has it. */
  readonly only?: readonly string[];
}

export interface Host extends Core, Pick<Web, 'rest' | 'admin' | 'views' | 'assets'> {
  readonly cli: CliRegistry;
  readonly plugins: Loader;
  /**
   * Takes requests and, unless the role is `web`, runs cron. Then the action `host_started` runs, where plugins begin what
   * they do in the background: it does not run in the process of a command line.
   *
   * @returns the address, and the one-time link of the first-run setup while the site has no administrator.
   */
  start(): Promise<{ readonly url: string; readonly setupLink: string | null }>;
  /** Lets what is under way finish, stops the plugins, closes the database. A second call waits for the first. */
  stop(): Promise<void>;
}

/** Milliseconds that requests under way are given when the host stops. */
const grace = 10_000;

/**
 * The composition root: opens the database, brings it up to date and starts the active plugins. Nothing listens until `start`.
 *
 * @throws Error with what to do when the database cannot be opened or is newer than this version; whatever was opened
 *   until then is closed. Plugins that fail never throw here.
 */
export async function createHost({ config, clock = createSystemClock(), write, only }: HostInit): Promise<Host> {
  const core = await createCore({ config, clock, ...(write && { write }) });
  try {
    return await composeHost({ core, ...(only && { only }) });
  } catch (error) {
    await closeCore(core);
    throw error;
  }
}

async function composeHost({ core, only }: { readonly core: Core } & Pick<HostInit, 'only'>): Promise<Host> {
  const { config } = core;
  // The parts around the plugins are made before them, and ask for them only when they are used.
  const loaded: { plugins?: Loader } = {};
  const known = (): Loader => {
    if (loaded.plugins === undefined) throw new Error('The plugins are not loaded yet.');
    return loaded.plugins;
  };
  const cli = createCliRegistry(async () =>
    (await import('./cli/host-commands.ts')).hostCommands({ core, plugins: known }),
  );
  const web = createWeb({
    core,
    plugins: {
      list: () => known().list(),
      activate: (slug) => known().activate(slug),
      deactivate: (slug) => known().deactivate(slug),
      uninstall: (slug) => known().uninstall(slug),
      install: (installation) => known().install(installation),
      health: (slug) => known().health(slug),
    },
    checks: createChecks(core, () => loaded.plugins !== undefined),
  });
  addHostRoutes({ core, web });
  addHostPages({ core, web });
  const plugins = await createPlugins({ core, web, cli, ...(only && { only }) });
  loaded.plugins = plugins;
  let stopping: Promise<void> | undefined;

  return {
    ...core,
    rest: web.rest,
    admin: web.admin,
    views: web.views,
    assets: web.assets,
    cli,
    plugins,
    async start() {
      await web.origins.follow();
      await web.anonymousLimit.follow();
      const { url } = await web.server.listen({ port: config.port, host: config.host });
      core.site.setAddress(url);
      await createFirstAdministrator(core);
      if (config.role !== 'web') await core.cron.start();
      await core.hooks.doActionAsync('host_started');
      return { url, setupLink: await web.setup.ensureLink() };
    },
    stop: () => (stopping ??= stop({ core, web, plugins })),
  };
}

function createChecks(core: Core, loaded: () => boolean) {
  return {
    database: () => core.database.ping(),
    migrations: async () => {
      const missing = (await core.database.migrationStatus()).filter(({ appliedAt }) => appliedAt === null);
      if (missing.length > 0)
        throw new Error(
          `Not applied: ${missing.map(({ owner, id }) => `${owner} ${id}`).join(', ')}. Run: npm run cli -- db migrate`,
        );
    },
    plugins: async () => {
      if (!loaded()) throw new Error('The plugins are still being loaded.');
    },
  };
}

/** `ADMIN_USER`, `ADMIN_PASSWORD` and `ADMIN_EMAIL` make the first administrator; once there is one they do nothing. */
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
    log.info('The first administrator was created from the environment.', { user: id });
  });
}

/** In the order in which work flows in, so that each part still has what it stands on. */
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
  await web.server.close(grace);
  await core.cron.stop();
  await plugins.stop();
  await closeCore(core);
}

async function closeCore({ content, options, http, database }: Core): Promise<void> {
  await content.stop();
  options.stop();
  await http.close();
  await database.close();
}
