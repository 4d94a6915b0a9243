import { lazy, type AdminPageBody, type AdminPageDeclaration, type CliCommand, type LazyAdminPage } from '#plugin-api';

/** A page, and the import of its code: `body: async () => (await import('./pages/usage.page.ts')).usagePage`. */
export interface LazyPage<Context> extends AdminPageDeclaration {
  readonly body: () => Promise<(context: Context) => AdminPageBody | Promise<AdminPageBody>>;
}

/** Declares a page of a module. Its code is loaded when the page is first opened. */
export function lazyPage<Context>({ body, ...declaration }: LazyPage<Context>): (context: Context) => LazyAdminPage {
  return (context) => ({ ...declaration, body: async () => (await body())(context) });
}

/**
 * Declares commands of a module: `lazyCommands(async () => (await import('./commands.ts')).usageCommands)`. A running host
 * never loads their code.
 */
export function lazyCommands<Context>(
  load: () => Promise<(context: Context) => readonly CliCommand[] | Promise<readonly CliCommand[]>>,
): (context: Context) => Promise<readonly CliCommand[]> {
  return async (context) => (await load())(context);
}

/** The ports of a module, and its parts, loaded on first use and shared by its routes, pages and commands. */
export type Loaded<Ports, Parts> = Ports & { load(): Promise<Parts> };

/** The member `create` of such a module: `loadParts(async () => (await import('./images.ts')).createImages)`. */
export function loadParts<Ports, Parts>(
  create: () => Promise<(ports: Ports) => Parts>,
): (ports: Ports) => Loaded<Ports, Parts> {
  return (ports) => ({
    ...ports,
    load: lazy(async () => {
      const parts = (await create())(ports);
      return () => parts;
    }),
  });
}

/** As `lazyPage`, for a module that loads its parts on first use. */
export function loadedPage<Parts>({
  body,
  ...declaration
}: LazyPage<Parts>): (module: Loaded<unknown, Parts>) => LazyAdminPage {
  return ({ load }) => ({ ...declaration, body: async () => (await body())(await load()) });
}

/** As `lazyCommands`, for a module that loads its parts on first use. */
export function loadedCommands<Parts>(
  commands: () => Promise<(parts: Parts) => readonly CliCommand[]>,
): (module: Loaded<unknown, Parts>) => Promise<readonly CliCommand[]> {
  return async ({ load }) => (await commands())(await load());
}

/**
 * An object that is loaded when one of its methods is first called, for stores that the parts of a module share. All named
 * methods must return promises.
 */
export function lazyMethods<Target extends object, const Name extends keyof Target>(
  load: () => Promise<Target>,
  names: readonly Name[],
): Pick<Target, Name> {
  const loaded = lazy(async () => {
    const target = await load();
    return () => target;
  });
  const call =
    (name: Name) =>
    async (...args: unknown[]): Promise<unknown> =>
      ((await loaded())[name] as (...args: unknown[]) => unknown)(...args);
  return Object.fromEntries(names.map((name) => [name, call(name)])) as Pick<Target, Name>;
}
