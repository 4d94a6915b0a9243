import type { InitializeHook, ResolveHook } from 'node:module';

/**
 * Module hooks that give the modules of a plugin its entry's `?generation=N`, so that a plugin that was edited is
 * loaded anew as a whole. They run in Node's loader thread and are registered only when a plugin is first reloaded,
 * once for each plugin that is.
 */
const folders = new Set<string>();

/** @param data `folder`: file URL of the plugin's folder, with a slash at its end. */
export const initialize: InitializeHook<{ folder: string }> = (data) => {
  folders.add(data.folder);
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const resolved = await nextResolve(specifier, context);
  const generation = context.parentURL === undefined ? null : generationOf(context.parentURL);
  if (
    generation === null ||
    generationOf(resolved.url) !== null ||
    !sharesFolder(context.parentURL ?? '', resolved.url)
  )
    return resolved;
  const url = new URL(resolved.url);
  url.searchParams.set('generation', generation);
  return { ...resolved, url: url.href };
};

function generationOf(url: string): string | null {
  return url.startsWith('file:') ? new URL(url).searchParams.get('generation') : null;
}

/** Packages that a plugin brings along are not its own code, and stay as they are. */
function sharesFolder(parent: string, child: string): boolean {
  for (const folder of folders) {
    if (parent.startsWith(folder) && child.startsWith(folder))
      return !child.slice(folder.length).includes('node_modules/');
  }
  return false;
}
