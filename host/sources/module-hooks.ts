import { registerHooks, type ResolveFnOutput, type ResolveHookContext } from 'node:module';

/*
 * Module hooks of this thread, for the modules of plugins, which Node loads as they are: TypeScript is stripped by Node itself (D36).
 * Importing this registers them. Imports between files of this project, which name whole files, are resolved without asking the
 * file system: that took a start more processor time than reading them.
 */

type Next = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

const host = new URL('../', import.meta.url).href;
const shippedPlugins = new URL('../../plugins/', import.meta.url).href;
/** The host and all its plugins share the classes of one module, whatever the package.json of a plugin says. */
const shared: Readonly<Record<string, string>> = {
  '#plugin-api': new URL('../plugin-api/index.ts', import.meta.url).href,
  '#testing': new URL('../testing/index.ts', import.meta.url).href,
};

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    const named = nameOwn(specifier, parentURL ?? '');
    if (named !== null)
      return ofGeneration(asModule({ url: named, format: 'module', shortCircuit: true }), parentURL ?? '');
    // Of the host only the loader imports by addresses: the entries of plugins.
    if (parentURL?.startsWith(host))
      return specifier.startsWith('file:') ? asModule(next(specifier, context)) : next(specifier, context);
    if (parentURL === undefined || parentURL.includes('/node_modules/')) return next(specifier, context);
    const resolved = asModule(
      /^\.{1,2}\//.test(specifier) ? resolveFile(specifier, context, next) : next(specifier, context),
    );
    return ofGeneration(resolved, parentURL);
  },
});

/** The URL of a shared module, and of a file of this project that another one names. Null: Node looks for it. */
function nameOwn(specifier: string, parentURL: string): string | null {
  const isHost = parentURL.startsWith(host);
  if (!isHost && (parentURL === '' || parentURL.includes('/node_modules/'))) return null;
  const url = shared[specifier];
  if (url !== undefined) return url;
  const isOwn = isHost || parentURL.startsWith(shippedPlugins);
  return isOwn && /^\.{1,2}\/.*\.ts$/.test(specifier) ? new URL(specifier, parentURL).href : null;
}

/** As TypeScript's own resolution has it: `./items` and `./items.js` are `./items.ts` where no other file is. */
function resolveFile(specifier: string, context: ResolveHookContext, next: Next): ResolveFnOutput {
  try {
    return next(specifier, context);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'ERR_UNSUPPORTED_DIR_IMPORT') throw error;
    const name = specifier.replace(/\.([mc]?)js$/, '.$1ts');
    for (const candidate of name === specifier ? [`${name}.ts`, `${name}/index.ts`] : [name])
      try {
        return next(candidate, context);
      } catch {
        // The first error names what the author wrote.
      }
    throw error;
  }
}

/** TypeScript of plugins is made of modules, and JSON needs no attribute, also where their package.json says nothing of either. */
function asModule(resolved: ResolveFnOutput): ResolveFnOutput {
  const [path = ''] = resolved.url.split('?', 1);
  if (path.includes('/node_modules/')) return resolved;
  if (path.endsWith('.ts')) return { ...resolved, format: 'module-typescript' };
  if (path.endsWith('.json')) return { ...resolved, importAttributes: { ...resolved.importAttributes, type: 'json' } };
  return resolved;
}

/** URLs of the folders of plugins that were loaded again, with a slash at the end. */
const reloaded = new Set<string>();

/**
 * From now on a module of the folder with `?generation=N` in its URL gives that to what it imports of the folder, so that an edited
 * plugin is loaded again as a whole. Its packages are not.
 *
 * @param folder URL with a slash at the end.
 */
export function followGenerations(folder: string): void {
  reloaded.add(folder);
}

function ofGeneration(resolved: ResolveFnOutput, parentURL: string): ResolveFnOutput {
  const generation = /[?&]generation=(\d+)/.exec(parentURL)?.[1];
  const isOwn = (folder: string): boolean => parentURL.startsWith(folder) && resolved.url.startsWith(folder);
  if (generation === undefined || resolved.url.includes('/node_modules/') || ![...reloaded].some(isOwn))
    return resolved;
  const url = new URL(resolved.url);
  if (url.searchParams.has('generation')) return resolved;
  url.searchParams.set('generation', generation);
  return { ...resolved, url: url.href };
}
