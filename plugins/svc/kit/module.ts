import type { AdminPage, CliCommand, HostApi, LazyAdminPage, Migration } from '#plugin-api';
import { registerRoute, type RouteContext, type ServiceRoute } from './route.ts';

/** What the kit needs of the ports that a module is registered with. */
export interface ModulePorts extends RouteContext {
  readonly host: Pick<HostApi, 'rest' | 'admin' | 'cli'>;
}

/**
 * A folder's table of contents: everything it adds to the service. Each list may be left out.
 *
 * `Ports` is what the module needs of the service; `Parts` is what its routes, pages and commands share.
 */
export interface ModuleDefinition<Ports, Parts> {
  /** Name of the folder. */
  readonly id: string;
  readonly title: string;
  /** Creates the parts, once per process, when the module registers. Without it the parts are the ports. */
  readonly create?: (ports: Ports) => Parts | Promise<Parts>;
  readonly routes?: readonly ServiceRoute<Parts>[];
  /** Declared by `lazyPage`, so that a page's code is loaded when it is first opened. */
  readonly pages?: readonly ((parts: Parts) => AdminPage | LazyAdminPage)[];
  /** Called when a command line runs: `lazyCommands` loads their code then. */
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

/** A module as the service's index sees it: its parts are its own business. */
export interface Module<Ports> {
  readonly id: string;
  readonly title: string;
  readonly migrations: readonly Migration[];
  readonly tables: readonly string[];
  readonly jobs: readonly string[];
  /** Registers what the module lists. The host undoes it all with the plugin. */
  register(ports: Ports): Promise<void>;
}

/** Defines a module without own parts: its routes, pages and commands take the ports. */
export function defineModule<Ports extends ModulePorts>(definition: ModuleDefinition<Ports, Ports>): Module<Ports>;
/** Defines a module whose routes, pages and commands share parts that it creates from its ports. */
export function defineModule<Ports extends ModulePorts, Parts extends ModulePorts>(
  definition: ModuleDefinition<Ports, Parts> & Required<Pick<ModuleDefinition<Ports, Parts>, 'create'>>,
): Module<Ports>;
export function defineModule<Ports extends ModulePorts>(definition: ModuleDefinition<Ports, Ports>): Module<Ports> {
  const { id, title, migrations = [], tables = [], jobs = [], create } = definition;
  return {
    id,
    title,
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

/** The tables of all modules in the order they are made. */
export function migrationsOf(modules: readonly Pick<Module<never>, 'migrations'>[]): Migration[] {
  return modules.flatMap((module) => module.migrations).sort((left, right) => (left.id < right.id ? -1 : 1));
}
