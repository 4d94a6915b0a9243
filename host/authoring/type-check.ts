import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { listSources, root } from '../build/files.js';
import { ensureTypesPackage, loadCompiler, typesPackageName } from './types-package.ts';

export interface TypeProblem {
  /** Relative to the plugin's folder. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Checks the types of a plugin with its own tsconfig.json, if it has one. @throws Error if TypeScript is not installed. */
export async function checkTypes(folder: string): Promise<TypeProblem[]> {
  const compiler = await startCompiler(folder);
  let printed = '';
  compiler.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await new Promise((resolve) => compiler.once('close', resolve));
  return readProblems(printed);
}

/** The lines of the compiler: `index.ts(3,7): error TS2322: ...`. Further lines explain. */
export function readProblems(printed: string): TypeProblem[] {
  return printed.split('\n').flatMap((line) => {
    const [, file = '', at = '', message = ''] = /^([^\s(][^(]*)\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
    return file === '' ? [] : [{ file, line: Number(at), message }];
  });
}

/** Starts `tsc` for the plugin, in its folder. With `watch` it goes on, and checks again what changed. */
export async function startCompiler(folder: string, { watch = false } = {}): Promise<ChildProcess> {
  await loadCompiler();
  const config = await writeConfig(folder);
  const compiler = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');
  return spawn(
    process.execPath,
    [compiler, '-p', config, '--pretty', 'false', ...(watch ? ['--watch', '--preserveWatchOutput'] : [])],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
}

/** A configuration beside the types of this host: neither the plugin nor the folders above need the package or its types. */
async function writeConfig(folder: string): Promise<string> {
  const types = await ensureTypesPackage();
  const own = join(folder, 'tsconfig.json');
  const hasOwn = existsSync(own);
  const files = listSources(folder, {
    isSource: (file) => /\.[mc]?ts$/.test(file) || (hasOwn && /\.[mc]?js$/.test(file)),
  });
  const names = hasOwn ? readTypes(own) : [];
  const config = {
    ...(hasOwn && { extends: own }),
    compilerOptions: {
      ...(!hasOwn && {
        ...{ target: 'es2023', lib: ['es2023'], module: 'nodenext', strict: true },
        ...{ allowImportingTsExtensions: true, skipLibCheck: true },
      }),
      noEmit: true,
      typeRoots: [join(folder, 'node_modules', '@types'), join(root, 'node_modules', '@types')],
      types: [...new Set(['node', ...names.filter((name) => name !== typesPackageName)])],
    },
    include: [],
    files: [join(types, 'index.d.ts'), ...files.files],
  };
  const directory = join(root, '.cache', typesPackageName, '.configurations');
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${createHash('sha256').update(folder).digest('hex').slice(0, 16)}.json`);
  await writeFile(path, JSON.stringify(config));
  return path;
}

function readTypes(file: string): string[] {
  const [, list = ''] = /"types"\s*:\s*\[([^\]]*)\]/.exec(readFileSync(file, 'utf8')) ?? [];
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
}
