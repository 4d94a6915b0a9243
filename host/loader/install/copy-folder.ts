import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readlink, realpath, symlink } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createAllowance, type Allowance, type InstallLimits } from './allowance.ts';
import { InstallError } from './allowance.ts';

/**
 * Copies a plugin folder into an empty one, without `.git`. Copies symbolic links that are relative and stay inside the
 * folder.
 *
 * @throws InstallError for other links and special files.
 */
export async function copyFolder({
  folder,
  target,
  limits,
}: {
  readonly folder: string;
  readonly target: string;
  readonly limits?: InstallLimits;
}): Promise<void> {
  const home = await realpath(folder);
  await copyInto({ home, from: home, to: target, allowance: createAllowance(limits) });
}

interface Copying {
  readonly home: string;
  readonly from: string;
  readonly to: string;
  readonly allowance: Allowance;
}

async function copyInto({ home, from, to, allowance }: Copying): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const paths = { home, from: join(from, entry.name), to: join(to, entry.name), allowance };
    if (entry.name === '.git') continue;
    allowance.entry();
    if (entry.isDirectory()) {
      await mkdir(paths.to);
      await copyInto(paths);
    } else if (entry.isFile())
      await pipeline(
        createReadStream(paths.from),
        allowance.meter(),
        createWriteStream(paths.to, { flags: 'wx', mode: 0o644 }),
      );
    else if (entry.isSymbolicLink()) await copyLink(paths);
    else
      throw new InstallError(
        `The folder contains '${relative(home, paths.from)}', which is not a file, folder or link.`,
      );
  }
}

async function copyLink({ home, from, to }: Copying): Promise<void> {
  const link = await readlink(from);
  const reached = await realpath(from).catch(() => null);
  if (isAbsolute(link) || reached === null || !(reached + sep).startsWith(home + sep)) {
    throw new InstallError(
      `The link '${relative(home, from)}' is broken or leaves the plugin folder; replace it with the file.`,
    );
  }
  await symlink(link, to);
}
