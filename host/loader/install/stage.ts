import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#plugin-api';
import { ManifestError, readManifest, type PluginSource } from '../manifest.ts';
import type { InstallLimits } from './allowance.ts';
import { copyFolder } from './copy-folder.ts';
import { InstallError } from './allowance.ts';
import { passingFolder } from './temp-folder.ts';
import { unpackZip } from './unpack-zip.ts';

/** A plugin unpacked and checked beside the place it is meant for, where one rename brings it there. */
export interface Staged {
  readonly source: PluginSource;
  /** Moves it to its place, which must be free. */
  moveTo(directory: string): Promise<void>;
  /** Removes what is left of it. */
  discard(): Promise<void>;
}

export interface Staging {
  /** A plugin's folder, or a zip with the plugin at its top or in one folder. */
  readonly path: string;
  /** The plugin folder it is meant for. */
  readonly pluginDir: string;
  readonly hostVersion: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly limits?: InstallLimits;
}

/**
 * Unpacks and checks a plugin under a name that is never looked at as one. After an error nothing of it is left.
 *
 * @throws InstallError that says what is wrong with it.
 */
export async function stage({ path, pluginDir, hostVersion, clock, limits }: Staging): Promise<Staged> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new InstallError(`There is nothing at ${path}; name a plugin's folder or a zip of one.`);
  const workshop = passingFolder({ pluginDir, kind: 'installing', clock });
  const unpacked = join(workshop, 'unpacked');
  const discard = (): Promise<void> => rm(workshop, { recursive: true, force: true });
  await mkdir(unpacked, { recursive: true });
  try {
    if (found.isDirectory()) await copyFolder({ folder: path, target: unpacked, ...(limits && { limits }) });
    else await unpackZip({ file: path, target: unpacked, ...(limits && { limits }) });
    const home = await findHome(unpacked);
    const source = await check(home, hostVersion);
    return { source, discard, moveTo: (directory) => rename(home, directory) };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** The folder of `plugin.json`: the top, or the only folder there. */
async function findHome(unpacked: string): Promise<string> {
  const entries = await readdir(unpacked, { withFileTypes: true });
  if (entries.some(({ name }) => name === 'plugin.json')) return unpacked;
  const [only] = entries;
  if (entries.length === 1 && only?.isDirectory() && (await readdir(join(unpacked, only.name))).includes('plugin.json'))
    return join(unpacked, only.name);
  throw new InstallError('There is no plugin.json at its top; pack the folder of one plugin.');
}

async function check(home: string, hostVersion: string): Promise<PluginSource> {
  try {
    const folder = slugOf(await readFile(join(home, 'plugin.json'), 'utf8'));
    const source = await readManifest({ directory: home, folder, hostVersion });
    if (!source) throw new InstallError('Its plugin.json cannot be read.');
    if (source.manifest.autoActivate)
      throw new InstallError(
        `'${folder}' asks for "autoActivate", which is for plugins that come with the host; take it out of its plugin.json.`,
      );
    return source;
  } catch (error) {
    if (error instanceof ManifestError)
      throw new InstallError(`Its plugin.json is not in order. ${error.message}`, { cause: error });
    throw error;
  }
}

/** Only to name the folder it will be in: every fault is found by the check of the whole manifest. */
function slugOf(text: string): string {
  try {
    const { slug } = JSON.parse(text) as { slug?: unknown };
    return typeof slug === 'string' ? slug : '';
  } catch {
    return '';
  }
}
