import type { AdminPageBody, AdminPageDeclaration, CliCommand, LazyAdminPage } from '#plugin-api';

/** A page as data, and the way to its code: `body: async () => (await import('./pages/usage.page.ts')).usagePage`. */
export interface LazyPage<Context> extends AdminPageDeclaration {
  readonly body: () => Promise<(context: Context) => AdminPageBody>;
}

/** Declares a page of a module. Its code is loaded when it is first opened. */
export function lazyPage<Context>({ body, ...declaration }: LazyPage<Context>): (context: Context) => LazyAdminPage {
  return (context) => ({ ...declaration, body: async () => (await body())(context) });
}

/** Declares commands of a module: `lazyCommands(async () => (await import('./commands.ts')).usageCommands)`. A running host never loads their code. */
export function lazyCommands<Context>(
  load: () => Promise<(context: Context) => readonly CliCommand[]>,
): (context: Context) => Promise<readonly CliCommand[]> {
  return async (context) => (await load())(context);
}
