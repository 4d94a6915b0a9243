import {
  lazyValue,
  type AdminPageBody,
  type AdminPageDeclaration,
  type CliCommand,
  type LazyAdminPage,
} from '#plugin-api';

/** A page, and the import of the file that exports its `createPage`: `body: () => import('./pages/usage.page.ts')`. */
export interface LazyPage<Context> extends AdminPageDeclaration {
  readonly body: () => Promise<{ createPage(context: Context): AdminPageBody | Promise<AdminPageBody> }>;
}

/** A page in the menu, under its title, with others, which share its capability and style and are below it unless they name a parent. */
export interface LazyPages<Context> extends Omit<LazyPage<Context>, 'menu'> {
  readonly subpages?: readonly Omit<LazyPage<Context>, 'capability' | 'style'>[];
}

function withSubpages<Context>({ subpages = [], ...page }: LazyPages<Context>): LazyPage<Context>[] {
  const { slug: parent, capability, style } = page;
  const common = { parent, ...(capability !== undefined && { capability }), ...(style !== undefined && { style }) };
  return [{ ...page, menu: page.title }, ...subpages.map((subpage) => ({ ...common, ...subpage }))];
}

/** Declares pages of a module. The code of a page is loaded when it is first opened. */
export function lazyPages<Context>(pages: LazyPages<Context>): ((context: Context) => LazyAdminPage)[] {
  return withSubpages(pages).map(({ body, ...declaration }) => (context) => ({
    ...declaration,
    body: async () => (await body()).createPage(context),
  }));
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
    load: lazyValue(async () => (await create())(ports)),
  });
}

/** As `lazyPages`, for a module that loads its parts on first use. */
export function loadedPages<Parts>(pages: LazyPages<Parts>): ((module: Loaded<unknown, Parts>) => LazyAdminPage)[] {
  return withSubpages(pages).map(({ body, ...declaration }) => ({ load }) => ({
    ...declaration,
    body: async () => (await body()).createPage(await load()),
  }));
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
  const loaded = lazyValue(load);
  const call =
    (name: Name) =>
    async (...args: unknown[]): Promise<unknown> =>
      ((await loaded())[name] as (...args: unknown[]) => unknown)(...args);
  return Object.fromEntries(names.map((name) => [name, call(name)])) as Pick<Target, Name>;
}
