import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, stop, type Plugin } from 'esbuild';
import { builtFiles, type ClientBundleInit, type ClientBundleReader } from '#plugin-api';
import { listSources } from './files.ts';

const common = {
  bundle: true,
  minify: true,
  write: false,
  target: 'es2020',
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'silent',
} as const;

/** What the modules `browser/bundle.ts` of a folder export. @param directory absolute path. */
export async function findClientBundles(directory: string): Promise<ClientBundleReader[]> {
  const { files } = listSources(directory, (file) => file.endsWith(join(sep, 'browser', 'bundle.ts')));
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(file).href) as Promise<object>));
  return modules.flatMap((module) => Object.values(module).filter(isBundle));
}

function isBundle(exported: unknown): exported is ClientBundleReader {
  return typeof exported === 'function' && 'init' in exported;
}

/**
 * Builds script and styles, and first the bundles whose versions the script names.
 *
 * @returns absolute paths of what changed.
 * @throws Error with file and line for invalid code.
 */
export async function buildClientBundle({ init }: ClientBundleReader): Promise<string[]> {
  const changed: string[] = [];
  for (const other of Object.values(init.versions ?? {})) changed.push(...(await buildClientBundle(other)));
  const paths = builtFiles(init);
  const contents = await bundleForClients(init);
  await mkdir(dirname(paths.script), { recursive: true });
  for (const name of ['styles', 'script'] as const) {
    const path = paths[name];
    const present = await readFile(path).catch(() => null);
    if (present !== null && present.equals(contents[name])) continue;
    // Readers see the old file or the new one.
    const half = `${path}.${randomUUID()}`;
    await writeFile(half, contents[name]);
    await rename(half, path);
    changed.push(path);
  }
  return changed;
}

/** The contents of the built files. */
export async function bundleForClients(init: ClientBundleInit): Promise<Record<'script' | 'styles', Uint8Array>> {
  // The styles contain prefixes and fallbacks by hand; old browsers ignore the rest.
  const [styles] = (await build({ ...common, entryPoints: [init.styles], target: 'esnext' })).outputFiles;
  const versions = await Promise.all(
    Object.entries(init.versions ?? {}).map(async ([name, other]) => [name, (await other()).script.hash] as const),
  );
  const [script] = (
    await build({
      ...common,
      entryPoints: [init.script],
      format: 'iife',
      platform: 'browser',
      define: Object.fromEntries(versions.map(([name, hash]) => [name, JSON.stringify(hash)])),
      plugins: [stylesAsText(styles?.text ?? ''), editSources(init.edits ?? [])],
    })
  ).outputFiles;
  if (!script || !styles) throw new Error(`Nothing was built from ${init.script}.`);
  return { script: script.contents, styles: styles.contents };
}

/** Ends the process that builds. */
export const stopBuilding = stop;

/** Lets the script import the minified styles as text. */
function stylesAsText(styles: string): Plugin {
  return {
    name: 'styles as text',
    setup({ onLoad }) {
      onLoad({ filter: /\.css$/ }, () => ({ contents: styles.trim(), loader: 'text' }));
    },
  };
}

function editSources(edits: NonNullable<ClientBundleInit['edits']>): Plugin {
  return {
    name: 'edits',
    setup({ onLoad }) {
      for (const { file, edit } of edits)
        onLoad({ filter: file }, async ({ path }) => ({ contents: edit(await readFile(path, 'utf8')), loader: 'js' }));
    },
  };
}
