import type { AdminPage, CliCommand, HostApi, LazyAdminPage, Migration } from '#plugin-api';
import { registerRoute, type RouteContext, type ServiceRoute } from './route.ts';

/** The ports that every module needs. */
export interface ModulePorts extends RouteContext {
  readonly host: Pick<HostApi, 'rest' | 'admin' | 'cli'>;
}

/**
 * The table of contents of a folder: everything that it adds to the service. Every list is optional.
 *
 * `Ports` is what the module needs of the service; `Parts` is what its routes, pages and commands share.
 */
export interface ModuleDefinition<Ports, Parts> {
  /** Creates the parts, once per process, when the module registers. Without it the parts are the ports. */
  readonly create?: (ports: Ports) => Parts | Promise<Parts>;
  readonly routes?: readonly ServiceRoute<Parts>[];
  /** Use `lazyPages`, so that the code of a page is loaded when it is first opened. */
  readonly pages?: readonly ((parts: Parts) => AdminPage | LazyAdminPage)[];
  /** Called when a command runs. Use `lazyCommands` to load the code then. */
  readonly commands?: readonly ((parts: Parts) => readonly CliCommand[] | Promise<readonly CliCommand[]>)[];
  /** Tables, named `svc_<name>`; their ids are sorted over all modules. */
  readonly migrations?: readonly Migration[];
  /** Names of the tables, dropped when the plugin is uninstalled. */
  readonly tables?: readonly string[];
  /** Hooks of the cron events, unscheduled when the plugin is uninstalled. */
  readonly jobs?: readonly string[];
  /** Everything without a list: filters, actions, badges, setup choices. Only declares. */
  readonly register?: (parts: Parts) => void | Promise<void>;
}

/** A module without its parts, for the index of the service. */
export interface Module<Ports> {
  readonly migrations: readonly Migration[];
  readonly tables: readonly string[];
  readonly jobs: readonly string[];
  /** Registers the contents of the module. The host undoes everything when the plugin is deactivated. */
  register(ports: Ports): Promise<void>;
}

/** Defines a module without own parts: its routes, pages and commands take the ports. */
export function defineModule<Ports extends ModulePorts>(definition: ModuleDefinition<Ports, Ports>): Module<Ports>;
/** Defines a module whose routes, pages and commands share parts that it creates from its ports. */
export function defineModule<Ports extends ModulePorts, Parts extends ModulePorts>(
  definition: ModuleDefinition<Ports, Parts> & Required<Pick<ModuleDefinition<Ports, Parts>, 'create'>>,
): Module<Ports>;
export function defineModule<Ports extends ModulePorts>(definition: ModuleDefinition<Ports, Ports>): Module<Ports> {
  const { migrations = [], tables = [], jobs = [], create } = definition;
  return {
    migrations,
    tables,
    jobs,
    async register(ports) {
      const parts = create ? await create(ports) : ports;
      for (const route of definition.routes ?? []) registerRoute(route, parts);
      for (const page of definition.pages ?? []) parts.host.admin.addPage(page(parts));
      for (const commands of definition.commands ?? []) parts.host.cli.addCommands(async () => commands(parts));
      await definition.register?.(parts);
    },
  };
}

/** The migrations of all modules, in the order in which they run. */
export function collectMigrations(modules: readonly Pick<Module<never>, 'migrations'>[]): Migration[] {
  return modules.flatMap((module) => module.migrations).sort((left, right) => (left.id < right.id ? -1 : 1));
}
