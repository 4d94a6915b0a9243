import type { InitializeHook, ResolveHook } from 'node:module';

/**
 * Module hooks that add `?generation=N` of the entry to all modules of a plugin, so that an edited plugin is reloaded
 * completely. They run in the loader thread of Node and are registered once per plugin, on its first reload.
 */
const folders = new Set<string>();

/** @param data `folder`: file URL of the plugin folder with a trailing slash. */
export const initialize: InitializeHook<{ folder: string }> = (data) => {
  folders.add(data.folder);
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const resolved = await nextResolve(specifier, context);
  const generation = context.parentURL === undefined ? null : readGeneration(context.parentURL);
  if (
    generation === null ||
    readGeneration(resolved.url) !== null ||
    !sharesFolder(context.parentURL ?? '', resolved.url)
  )
    return resolved;
  const url = new URL(resolved.url);
  url.searchParams.set('generation', generation);
  return { ...resolved, url: url.href };
};

function readGeneration(url: string): string | null {
  return url.startsWith('file:') ? new URL(url).searchParams.get('generation') : null;
}

/** Excludes packages in `node_modules`, which are not reloaded. */
function sharesFolder(parent: string, child: string): boolean {
  for (const folder of folders) {
    if (parent.startsWith(folder) && child.startsWith(folder))
      return !child.slice(folder.length).includes('node_modules/');
  }
  return false;
}
