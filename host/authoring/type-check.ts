import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { listSources, root } from '../sources/files.ts';
import { ensureTypesPackage, loadCompiler, typesPackageName } from './types-package.ts';

export interface TypeProblem {
  /** Relative to the plugin's folder. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/**
 * Checks the types of a plugin with its own tsconfig.json, if it has one, and then those of its client scripts, which are the
 * files in the folder `assets`, with the types of browsers.
 *
 * @throws Error if TypeScript is not installed.
 */
export async function checkTypes(folder: string): Promise<TypeProblem[]> {
  const problems: TypeProblem[] = [];
  for (const part of ['server', 'client'] as const) {
    const config = await writeConfig(folder, part);
    if (config === null) continue;
    const compiler = runCompiler({ folder, config, isPlain: part === 'server' && isPlain(folder) });
    let printed = '';
    compiler.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await new Promise((resolve) => compiler.once('close', resolve));
    problems.push(...readProblems(printed));
  }
  return problems;
}

/** The lines of the compiler: `index.ts(3,7): error TS2322: ...`. Further lines explain. */
export function readProblems(printed: string): TypeProblem[] {
  return printed.split('\n').flatMap((line) => {
    const [, file = '', at = '', message = ''] = /^([^\s(][^(]*)\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
    return file === '' ? [] : [{ file, line: Number(at), message }];
  });
}

/** Starts the compiler for the plugin, in its folder. With `watch` it goes on, and checks again what changed. */
export async function startCompiler(folder: string, { watch = false } = {}): Promise<ChildProcess> {
  const config = await writeConfig(folder, 'server');
  if (config === null) throw new Error(`There is no code in ${folder}.`);
  return runCompiler({ folder, config, isPlain: isPlain(folder), flags: watch ? ['--watch'] : [] });
}

interface CompilerInit {
  readonly folder: string;
  readonly config: string;
  readonly isPlain: boolean;
  readonly flags?: readonly string[];
}

function runCompiler({ folder, config, isPlain: given, flags = [] }: CompilerInit): ChildProcess {
  const script = join(root, 'host', 'authoring', 'compile.ts');
  return spawn(process.execPath, [script, config, ...(given ? [`--javascript=${folder}`] : []), ...flags], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Whether its author chose no options of the compiler: JavaScript is then checked for what it passes to the host. */
function isPlain(folder: string): boolean {
  return !existsSync(join(folder, 'tsconfig.json'));
}

/** What a plugin without a tsconfig.json is checked with. Parameters of JavaScript need no types. */
const ownOptions = {
  ...{ target: 'es2023', lib: ['es2023'], module: 'nodenext', strict: true, allowJs: true, checkJs: true },
  ...{ allowImportingTsExtensions: true, skipLibCheck: true },
};

/**
 * A configuration beside the types of this host: neither the plugin nor the folders above need the package or its types. Null if
 * the part has no files.
 */
async function writeConfig(folder: string, part: 'server' | 'client'): Promise<string | null> {
  const types = await ensureTypesPackage();
  const own = join(folder, 'tsconfig.json');
  const hasOwn = existsSync(own);
  const isClient = (file: string): boolean => file.startsWith(join(folder, 'assets') + sep);
  const files = (await listFiles(folder, hasOwn ? own : null)).filter((file) => isClient(file) === (part === 'client'));
  if (files.length === 0) return null;
  const names = hasOwn ? readTypes(own) : [];
  const isJavaScript = files.every((file) => /\.[mc]?js$/.test(file));
  const config = {
    ...(hasOwn && { extends: own }),
    compilerOptions: {
      ...(!hasOwn && { ...ownOptions, noImplicitAny: !isJavaScript }),
      noEmit: true,
      ...(part === 'client'
        ? {
            ...{ lib: ['es2023', 'dom', 'dom.iterable'], module: 'esnext', moduleResolution: 'bundler', types: [] },
            ...{ noImplicitAny: false, moduleDetection: 'force' },
          }
        : {
            typeRoots: [join(folder, 'node_modules', '@types'), join(root, 'node_modules', '@types')],
            types: [...new Set(['node', ...names.filter((name) => name !== typesPackageName)])],
          }),
    },
    include: [],
    files: part === 'client' ? files : [join(types, 'index.d.ts'), ...files],
  };
  const directory = join(root, '.cache', typesPackageName, '.configurations');
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${createHash('sha256').update(folder).digest('hex').slice(0, 16)}-${part}.json`);
  await writeFile(path, JSON.stringify(config));
  return path;
}

/** The files that the plugin's tsconfig.json includes and does not exclude; without one, all of its code. */
async function listFiles(folder: string, own: string | null): Promise<readonly string[]> {
  const { files } = listSources(folder, (file) => /\.[mc]?[jt]s$/.test(file));
  if (own === null) return files;
  const compiler = await loadCompiler();
  const { config } = compiler.readConfigFile(own, (path) => compiler.sys.readFile(path)) as { config?: object };
  const included = compiler.parseJsonConfigFileContent(config ?? {}, compiler.sys, folder, {}, own).fileNames;
  return files.filter((file) => included.includes(file.split(sep).join('/')));
}

function readTypes(file: string): string[] {
  const [, list = ''] = /"types"\s*:\s*\[([^\]]*)\]/.exec(readFileSync(file, 'utf8')) ?? [];
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
}
