import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import type TypeScript from 'typescript';
import { hashContents, listSources, root } from '../sources/files.ts';
import { pickDeclarations } from './declarations.ts';

export const typesPackageName = 'svc-plugin-api';

const entries = { api: 'host/plugin-api/index', testing: 'host/testing/index' };

/** Packages whose declarations are copied, so that a plugin does not install them for their types. */
const vendored = { knex: 'types', tarn: 'dist' } as const;

/**
 * The folder of the npm package with the types of `#plugin-api` and `#testing`, with the hooks of the host and of the service.
 * It is generated from the sources if they changed, which takes some seconds; an installed package brings it.
 *
 * @throws Error if TypeScript is not installed, or the types of the sources cannot be written.
 */
export async function ensureTypesPackage(): Promise<string> {
  const shipped = join(root, 'types', typesPackageName);
  if (existsSync(shipped)) return shipped;
  const sources = [join(root, 'host'), join(root, 'plugins', 'svc')].flatMap((directory) => [
    ...listSources(directory, (file) => /\.[jt]s$/.test(file) && !file.includes(`${sep}browser${sep}`)).files,
  ]);
  const key = createHash('sha256')
    .update(hashContents(root, [...sources, join(root, 'package.json'), join(root, 'tsconfig.json')]))
    .digest('hex')
    .slice(0, 32);
  const base = join(root, '.cache', typesPackageName);
  const folder = join(base, key, typesPackageName);
  if (existsSync(folder)) return folder;
  const unfinished = join(base, `.${randomUUID()}`);
  try {
    await writeTypesPackage(join(unfinished, typesPackageName), sources);
    for (const name of await readdir(base))
      if (!name.startsWith('.')) await rm(join(base, name), { recursive: true, force: true });
    await rename(unfinished, join(base, key)).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** @throws Error if TypeScript is not installed: a site needs it only for these commands. */
export async function loadCompiler(): Promise<typeof TypeScript> {
  const compiler = await import('typescript').then(
    (module) => module.default as typeof TypeScript | undefined,
    () => undefined,
  );
  // Another package may have brought a version without the API.
  if (compiler?.createProgram === undefined)
    throw new Error('This needs TypeScript 6. Run this in the folder of the site: npm install --save-dev typescript@6');
  return compiler;
}

/** Packs it as `npm publish` would send it. Returns the absolute path of the file in the folder. */
export async function packTypesPackage(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: await ensureTypesPackage(),
  });
  const [packed] = JSON.parse(stdout) as { readonly filename: string }[];
  return join(folder, packed?.filename ?? '');
}

async function writeTypesPackage(folder: string, sources: readonly string[]): Promise<void> {
  const compiler = await loadCompiler();
  const additions = sources.filter((file) =>
    /interface (?:(?:Sync)?Filter|Action|Service)Map\b/.test(readFileSync(file, 'utf8')),
  );
  const paths = additions.map(toPath).filter((path) => !path.startsWith('host/plugin-api/'));
  const declarations = pickDeclarations({
    compiler,
    read: createReader(compiler, [...Object.values(entries), ...paths]),
    entries: Object.values(entries),
    additions: paths,
    pluginApi: entries.api,
    packageName: (name, from) => {
      if (name === 'undici') return 'undici-types';
      if (name === 'express') return posix.relative(posix.dirname(from), 'vendor/express.js');
      return name in vendored ? posix.relative(posix.dirname(from), `vendor/${name}/index.js`) : name;
    },
  });
  for (const [path, text] of declarations) await write(folder, `${path}.d.ts`, text);
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>;
  const hookMaps = paths.map((path) => `import './${path}.js';`).join('\n');
  const files = {
    'index.d.ts': `/// <reference path="./ambient.d.ts" />\n${hookMaps}\nexport * from './${entries.api}.js';\n`,
    'vendor/express.d.ts': express,
    'testing.d.ts': `/// <reference path="./ambient.d.ts" />\nexport * from './${entries.testing}.js';\n`,
    'ambient.d.ts': ambient,
    'svc-plugin-test.js': pluginTest,
    'README.md': readme,
    'package.json': `${JSON.stringify(manifest(version ?? '', license ?? ''), null, 2)}\n`,
  };
  for (const [name, text] of Object.entries(files)) await write(folder, name, text);
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await copyVendored(folder);
}

/** Reads declarations that the compiler writes when they are asked for: most modules are not. */
function createReader(compiler: typeof TypeScript, paths: readonly string[]): (path: string) => string | null {
  const { options } = compiler.parseJsonConfigFileContent(
    JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')),
    compiler.sys,
    root,
  );
  const { tsBuildInfoFile: _unused, ...own } = options;
  const program = compiler.createProgram(
    paths.map((path) => join(root, `${path}.ts`)),
    { ...own, noEmit: false, incremental: false, declaration: true, emitDeclarationOnly: true, types: ['node'] },
  );
  return (path) => {
    const source = ['.ts', '.js', '.d.ts', '/index.ts']
      .map((ending) => program.getSourceFile(join(root, path + ending)))
      .find((each) => each !== undefined);
    if (!source) return null;
    if (source.isDeclarationFile) return source.text;
    let written: string | null = null;
    const { diagnostics } = program.emit(source, (_name, text) => (written = text), undefined, true);
    const [first] = diagnostics;
    if (first) throw new Error(`${path}: ${compiler.flattenDiagnosticMessageText(first.messageText, '\n')}`);
    return written;
  };
}

/** @param file absolute path of a source. */
function toPath(file: string): string {
  return relative(root, file)
    .replaceAll(sep, '/')
    .replace(/\.[jt]s$/, '');
}

async function write(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function copyVendored(folder: string): Promise<void> {
  for (const [name, types] of Object.entries(vendored)) {
    const from = join(root, 'node_modules', name);
    const target = join(folder, 'vendor', name);
    for (const file of await readdir(join(from, types)))
      if (file.endsWith('.d.ts')) {
        const text = readFileSync(join(from, types, file), 'utf8')
          .replaceAll("'tarn/dist/Pool'", "'../tarn/Pool'")
          .replaceAll("'tarn'", "'../tarn/tarn'");
        await write(target, file, text);
      }
    // Their imports have no endings, which modules would need.
    await write(target, 'package.json', '{ "type": "commonjs" }\n');
    await cp(join(from, 'LICENSE'), join(target, 'LICENSE'));
  }
}

const manifest = (version: string, license: string): object => ({
  name: typesPackageName,
  version,
  description: 'Types for plugins of svc: #plugin-api, #testing, and the hooks of the host and of the AI service.',
  license,
  type: 'module',
  types: './index.d.ts',
  bin: { 'svc-plugin-test': './svc-plugin-test.js' },
  exports: {
    '.': { types: './index.d.ts' },
    './testing': { types: './testing.d.ts' },
    './package.json': './package.json',
  },
  peerDependencies: { '@types/node': '>=22' },
  peerDependenciesMeta: { '@types/node': { optional: true } },
});

/** Names that each plugin can import, whatever its own package.json says. A script, not a module, which declares them for all files. */
const ambient = `declare module '#plugin-api' {
  export * from '${typesPackageName}';
}
declare module '#testing' {
  export * from '${typesPackageName}/testing';
}
`;

/** Only named by members of the host that plugins do not see. */
const express = ['Express', 'RequestHandler', 'Router'].map((name) => `export type ${name} = unknown;\n`).join('');

/** The conformance kit for a plugin in any folder. */
const pluginTest = `#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const host = process.env.SVC_HOST ?? '';
const program = join(resolve(host), 'host', 'cli', 'main.js');
if (host === '' || !existsSync(program)) {
  console.error('Set SVC_HOST to the folder of the host, for example: SVC_HOST=../svc npx svc-plugin-test');
  process.exit(1);
}
const given = process.argv.slice(2);
const folder = given[0]?.startsWith('-') === false ? given.shift() : '.';
// The command needs a site, but none of yours.
const data = mkdtempSync(join(tmpdir(), 'svc-plugin-test-'));
const { status } = spawnSync(process.execPath, [program, 'plugin', 'test', resolve(folder), '--conformance', ...given], {
  stdio: 'inherit',
  env: { ...process.env, DATA_DIR: data, DATABASE_URL: '' },
});
rmSync(data, { recursive: true, force: true });
process.exit(status ?? 1);
`;

const readme = `# ${typesPackageName}

Types for plugins of svc: \`#plugin-api\` and \`#testing\`, with the hooks of the host and of the AI service. Generated from the
sources of the host of the same version, which has the code.

\`SVC_HOST=<folder of the host> npx svc-plugin-test [folder]\` tries what every plugin should stand: activation, broken requests, a
failing database, admin pages with their accessibility, rounds, upgrade, uninstallation. Its flags are those of
\`plugin test --conformance\`.

\`\`\`json
{ "compilerOptions": { "module": "nodenext", "strict": true, "noEmit": true, "types": ["node", "${typesPackageName}"] } }
\`\`\`

\`\`\`ts
import { definePlugin } from '#plugin-api';

export default definePlugin({
  register(host) {
    host.hooks.addFilter('the_title', (title) => title.trim());
  },
});
\`\`\`

Your plugin may add its own hooks: \`declare module '#plugin-api' { interface FilterMap { my_filter: (value: string) => string } }\`;
in \`SyncFilterMap\` if you apply it with \`applyFilters\`, so that its callbacks cannot be async.
\`vendor\` has the declarations of knex and tarn (MIT, see their licenses).
`;

if (process.argv[1] === import.meta.filename) process.stdout.write(`${await packTypesPackage(process.cwd())}\n`);
