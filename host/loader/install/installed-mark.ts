import { lstat, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A file in the folder of an installed plugin. A folder without it may be the only copy of its author's work. */
const markFile = '.installed';

/**
 * Marks a folder as written by an installation. The mark names the folder's path, so that it has no meaning in a copy.
 *
 * @param target the path that the folder will have, with symbolic links resolved.
 */
export async function markInstalled(folder: string, target: string): Promise<void> {
  await writeFile(join(folder, markFile), `${target}\n`);
}

/**
 * Whether a folder can be deleted without asking: an installation wrote it, and it is not a Git working copy.
 *
 * @param folder with symbolic links resolved.
 */
export async function isInstalledFolder(folder: string): Promise<boolean> {
  const mark = await readFile(join(folder, markFile), 'utf8').catch(() => '');
  return mark.trim() === folder && !(await isWorkingCopy(folder));
}

export async function isWorkingCopy(folder: string): Promise<boolean> {
  return (await lstat(join(folder, '.git')).catch(() => null)) !== null;
}
