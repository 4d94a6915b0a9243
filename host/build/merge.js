// @ts-check
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** @import { BuildOptions, Metafile, Plugin } from 'esbuild' */

/**
 * A file that esbuild made of a unit, by the names of the files that Node loads with it.
 *
 * @typedef {object} Part
 * @property {readonly string[]} exports
 * @property {readonly string[]} imports
 * @property {readonly string[]} lazy what it may import later.
 */

/**
 * Merges the parts into which esbuild splits a unit. It makes one for each set of lazy imports that share modules, and each
 * file costs Node up to half a millisecond of processor time. What an entry always loads becomes one file, or several if
 * entries share a part of it. The files keep their names for lazy imports.
 *
 * @param {object} init
 * @param {Metafile} init.metafile of the split unit.
 * @param {string} init.input absolute path of the folder with the split unit.
 * @param {readonly string[]} init.entries names of files.
 * @param {BuildOptions} init.options `outdir` receives the files.
 * @returns {Promise<string[]>} paths of the files as esbuild names them.
 */
export async function merge({ metafile, input, entries, options }) {
  const parts = readParts(metafile);
  const groups = groupParts(parts, entries);
  const groupOf = new Map(groups.flatMap((names, index) => names.map((name) => [name, index])));
  const lazy = new Set([...parts.values()].flatMap((part) => part.lazy));
  const files = [...parts.keys()].flatMap((name) => {
    if (!groupOf.has(name)) return [{ in: join(input, name), out: name }];
    return entries.includes(name) || lazy.has(name) ? [{ in: `forward:${name}`, out: name }] : [];
  });
  const merged = await build({
    ...options,
    metafile: true,
    splitting: false,
    minifyWhitespace: true,
    entryPoints: [...files, ...groups.map((_names, index) => ({ in: `group:${index}`, out: groupFile(index) }))].map(
      ({ in: path, out }) => ({ in: path, out: basename(out, '.mjs') }),
    ),
    plugins: [joinParts({ input, parts, groups, groupOf })],
  });
  return Object.keys(merged.metafile?.outputs ?? {});
}

/** @param {number} index */
function groupFile(index) {
  return `group-${index}.mjs`;
}

/**
 * @param {Metafile} metafile
 * @returns {Map<string, Part>} by the names of their files.
 */
function readParts({ outputs }) {
  return new Map(
    Object.entries(outputs)
      .filter(([path]) => path.endsWith('.mjs'))
      .map(([path, { imports, exports }]) => {
        const own = imports.filter(({ external }) => external !== true);
        return [
          basename(path),
          {
            exports,
            imports: own.filter(({ kind }) => kind === 'import-statement').map((each) => basename(each.path)),
            lazy: own.filter(({ kind }) => kind === 'dynamic-import').map((each) => basename(each.path)),
          },
        ];
      }),
  );
}

/**
 * @param {ReadonlyMap<string, Part>} parts
 * @param {readonly string[]} entries
 * @returns {string[][]} names in the order in which they run.
 */
function groupParts(parts, entries) {
  /** @type {Map<string, string[]>} */
  const users = new Map();
  for (const entry of entries) {
    const seen = new Set();
    const visit = (/** @type {string} */ name) => {
      if (seen.has(name)) return;
      seen.add(name);
      for (const imported of parts.get(name)?.imports ?? []) visit(imported);
      users.set(name, [...(users.get(name) ?? []), entry]);
    };
    visit(entry);
  }
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const [name, used] of users) groups.set(used.join(), [...(groups.get(used.join()) ?? []), name]);
  return [...groups.values()].filter((names) => names.length > 1);
}

/**
 * @param {object} init
 * @param {string} init.input
 * @param {ReadonlyMap<string, Part>} init.parts
 * @param {readonly (readonly string[])[]} init.groups
 * @param {ReadonlyMap<string, number>} init.groupOf by the name of a part.
 * @returns {Plugin}
 */
function joinParts({ input, parts, groups, groupOf }) {
  const numbers = new Map([...parts.keys()].map((name, number) => [name, number]));
  /** @param {string} name */
  const rename = (name) => (/** @type {string} */ each) => `part${numbers.get(name)}_${each}`;
  /**
   * @param {string} name
   * @param {(own: string, inGroup: string) => string} clause
   */
  const list = (name, clause) =>
    (parts.get(name)?.exports ?? []).map((own) => clause(own, rename(name)(own))).join(', ');
  return {
    name: 'parts',
    setup(bundler) {
      bundler.onResolve({ filter: /^(?:group|forward):/ }, ({ path }) => {
        const [namespace = '', name = ''] = path.split(':', 2);
        return { path: name, namespace };
      });
      bundler.onResolve({ filter: /^/ }, ({ path, kind, importer, namespace }) => {
        if (kind === 'entry-point') return { path };
        const name = path.startsWith('./') ? path.slice(2) : '';
        const group = kind === 'dynamic-import' ? undefined : groupOf.get(name);
        if (group === undefined) return { path, external: true };
        const isOwn = namespace === 'group' ? group === Number(importer) : group === groupOf.get(basename(importer));
        return namespace !== 'forward' && isOwn ? { path: join(input, name) } : { path: name, namespace: 'forward' };
      });
      bundler.onLoad({ filter: /^/, namespace: 'group' }, ({ path }) => ({
        contents: (groups[Number(path)] ?? [])
          .map((name) => `export { ${list(name, (own, inGroup) => `${own} as ${inGroup}`)} } from "./${name}";`)
          .join('\n'),
      }));
      bundler.onLoad({ filter: /^/, namespace: 'forward' }, ({ path }) => ({
        contents: `export { ${list(path, (own, inGroup) => `${inGroup} as ${own}`)} } from "./${groupFile(
          groupOf.get(path) ?? 0,
        )}";`,
      }));
    },
  };
}
