import { execFile } from 'node:child_process';

import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packTypesPackage } from '../../host/authoring/types-package.ts';
import { checkout } from '../helpers/running-site.ts';

/** A folder outside of the checkout, as a plugin's author has it: the types package installed from its file, and the compiler. */
export interface OutsideFolder {
  readonly directory: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Runs `tsc -p`. Resolves with the lines that it prints; none if the types are right. */
  checkTypes(folder?: string): Promise<string[]>;
  remove(): Promise<void>;
}

export async function createOutsideFolder(): Promise<OutsideFolder> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'svc-outside-')));
  await writeFile(join(directory, 'package.json'), '{ "private": true }');
  const packed = await packTypesPackage(directory);
  const tarball = join(directory, 'types.tgz');
  await rename(packed, tarball);
  await promisify(execFile)('npm', ['install', '--offline', '--no-audit', '--no-fund', '--save-dev', tarball], {
    cwd: directory,
  });
  // What an author installs from the registry.
  await mkdir(join(directory, 'node_modules', '@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types', 'typescript'])
    await symlink(join(checkout, 'node_modules', name), join(directory, 'node_modules', name));
  return {
    directory,
    async write(files) {
      for (const [name, text] of Object.entries(files)) {
        const path = join(directory, name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, text);
      }
    },
    async checkTypes(folder = '.') {
      const compiler = join(directory, 'node_modules', 'typescript', 'lib', 'tsc.js');
      const printed = await promisify(execFile)(process.execPath, [compiler, '-p', folder], { cwd: directory }).then(
        ({ stdout }) => stdout,
        (error: unknown) => (error as { stdout: string }).stdout,
      );
      return printed.split('\n').filter((line) => line !== '');
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
