import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { listSources, root } from '../sources/files.ts';
import { ensureTypesPackage, typesPackageName } from './types-package.ts';

/*
 * Makes `built/package`, which `npm pack` packs: the product as JavaScript, since Node strips no types below `node_modules`. Types
 * become spaces, so that lines and columns of errors are those of the sources. Run it after `build.js`.
 */
const target = join(root, 'built', 'package');

/** Files of development: scripts for browsers are built, and declarations are for editors. */
const isLeftOut = (file: string): boolean => /\/browser\/client\/|\.d\.ts$/.test(file.replaceAll('\\', '/'));

/** @returns the module with the relative names of the modules that it imports, or starts as threads, changed to `.js`. */
function toJavaScript(file: string, source: string): string {
  return (file.endsWith('.ts') ? stripTypeScriptTypes(source) : source).replaceAll(
    /(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g,
    (given, quote: string, name: string) =>
      existsSync(join(dirname(file), `${name}.ts`)) ? `${quote}${name}.js${quote}` : given,
  );
}

async function pack(file: string): Promise<void> {
  const to = join(target, relative(root, file));
  await mkdir(dirname(to), { recursive: true });
  if (/\.[jt]s$/.test(file))
    await writeFile(to.replace(/\.ts$/, '.js'), toJavaScript(file, await readFile(file, 'utf8')));
  else if (file.endsWith('plugin.json'))
    await writeFile(to, (await readFile(file, 'utf8')).replace('"index.ts"', '"index.js"'));
  else await copyFile(file, to);
}

await rm(target, { recursive: true, force: true });
for (const folder of ['host', 'plugins', 'views'])
  for (const file of listSources(join(root, folder)).files) if (!isLeftOut(file)) await pack(file);
await copyFile(join(root, 'compose.yaml'), join(target, 'compose.yaml'));
// For authors of plugins; made from sources that the package has not.
await cp(await ensureTypesPackage(), join(target, 'types', typesPackageName), { recursive: true });
await writeFile(
  join(target, 'package.json'),
  JSON.stringify({
    type: 'module',
    imports: { '#plugin-api': './host/plugin-api/index.js', '#testing': './host/testing/index.js' },
  }),
);
