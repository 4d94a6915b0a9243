import type { AdminPage, CliCommand, HostApi, LazyAdminPage, Migration } from '#plugin-api';
import { registerRoute, type RouteContext, type ServiceRoute } from './route.ts';

/** What the kit needs of the context that modules are registered with. */
export interface ModuleContext extends RouteContext {
  readonly host: Pick<HostApi, 'rest' | 'admin' | 'cli'>;
}

/** A folder's table of contents: everything it adds to the service. Each list may be left out. */
export interface Module<Context> {
  /** Name of the folder. */
  readonly id: string;
  readonly title: string;
  readonly routes?: readonly ServiceRoute<Context>[];
  /** Declared by `lazyPage`, so that a page's code is loaded when it is first opened. */
  readonly pages?: readonly ((context: Context) => AdminPage | LazyAdminPage)[];
  /** Asked for when a command line runs: `lazyCommands` loads their code then. */
  readonly commands?: readonly ((context: Context) => readonly CliCommand[] | Promise<readonly CliCommand[]>)[];
  /** Tables, named `svc_<name>`; their ids are sorted over all modules. */
  readonly migrations?: readonly Migration[];
  /** Whatever has no list of its own: filters, actions, badges, setup choices. Only declares. */
  readonly register?: (context: Context) => void | Promise<void>;
}

/** Gives a module its types; answers it unchanged. */
export function defineModule<Context>(module: Module<Context>): Module<Context> {
  return module;
}

/** Registers what a module lists. The host undoes it all with the plugin. */
export async function registerModule<Context extends ModuleContext>(
  module: Module<Context>,
  context: Context,
): Promise<void> {
  for (const route of module.routes ?? []) registerRoute(route, context);
  for (const page of module.pages ?? []) context.host.admin.addPage(page(context));
  for (const commands of module.commands ?? []) context.host.cli.addCommands(async () => commands(context));
  await module.register?.(context);
}

/** The tables of all modules in the order they are made. */
export function migrationsOf(modules: readonly Pick<Module<never>, 'migrations'>[]): Migration[] {
  return modules.flatMap((module) => module.migrations ?? []).sort((left, right) => (left.id < right.id ? -1 : 1));
}
