import { mkdir, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DocumentError, type Clock, type DocumentsApi } from '#plugin-api';
import { ManifestError, readManifest, type PluginSource } from '../manifest.ts';
import type { InstallLimits } from './allowance.ts';
import { copyFolder } from './copy-folder.ts';
import { InstallError } from './allowance.ts';
import { markInstalled } from './installed-mark.ts';
import { tempFolderPath } from './temp-folder.ts';
import type { unpackZip } from './zip.reader.ts';

/** A plugin that is unpacked and checked in the target file system, so that one rename installs it. */
export interface Staged {
  readonly source: PluginSource;
  /** Marks it as installed and moves it to its target path, which must not exist. */
  moveTo(directory: string): Promise<void>;
  /** Deletes the staging folder. */
  discard(): Promise<void>;
}

export interface Staging {
  /** A plugin folder, or a zip file with the plugin at its root or in a single folder. */
  readonly path: string;
  /** The target plugin folder. */
  readonly pluginDir: string;
  readonly hostVersion: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly documents: DocumentsApi;
  readonly limits?: InstallLimits;
}

/** Milliseconds. */
const unpackDeadline = 60_000;

/**
 * Unpacks and checks a plugin in a folder that discovery ignores. Deletes the folder after an error.
 *
 * @throws InstallError with the reason.
 */
export async function stage({ path, pluginDir, hostVersion, clock, documents, limits }: Staging): Promise<Staged> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new InstallError(`${path} does not exist; specify a plugin folder or a zip file.`);
  const stagingFolder = tempFolderPath({ pluginDir, kind: 'installing', clock });
  const unpacked = join(stagingFolder, 'unpacked');
  const discard = (): Promise<void> => rm(stagingFolder, { recursive: true, force: true });
  await mkdir(unpacked, { recursive: true });
  try {
    if (found.isDirectory()) await copyFolder({ folder: path, target: unpacked, ...(limits && { limits }) });
    else await unpack(documents, { file: path, target: unpacked, ...(limits && { limits }) });
    const pluginFolder = await findPluginFolder(unpacked);
    const source = await check(pluginFolder, hostVersion);
    return {
      source,
      discard,
      async moveTo(directory) {
        await markInstalled(pluginFolder, join(await realpath(dirname(directory)), basename(directory)));
        await rename(pluginFolder, directory);
      },
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Unpacks a zip file in a thread. */
async function unpack(documents: DocumentsApi, input: Parameters<typeof unpackZip>[0]): Promise<void> {
  try {
    await documents.read<typeof unpackZip>({
      module: new URL('./zip.reader.ts', import.meta.url),
      reader: 'unpackZip',
      input,
      deadline: unpackDeadline,
    });
  } catch (error) {
    throw error instanceof DocumentError ? new InstallError(error.message, { cause: error }) : error;
  }
}

/** The folder that contains `plugin.json`: the root or its only folder. */
async function findPluginFolder(unpacked: string): Promise<string> {
  const entries = await readdir(unpacked, { withFileTypes: true });
  if (entries.some(({ name }) => name === 'plugin.json')) return unpacked;
  const [only] = entries;
  if (entries.length === 1 && only?.isDirectory() && (await readdir(join(unpacked, only.name))).includes('plugin.json'))
    return join(unpacked, only.name);
  throw new InstallError('It has no plugin.json at its root; pack the folder of one plugin.');
}

async function check(pluginFolder: string, hostVersion: string): Promise<PluginSource> {
  try {
    const folder = readSlug(await readFile(join(pluginFolder, 'plugin.json'), 'utf8'));
    const source = await readManifest({ directory: pluginFolder, folder, hostVersion });
    if (!source) throw new InstallError('Its plugin.json cannot be read.');
    if (source.manifest.autoActivate)
      throw new InstallError(
        `'${folder}' uses "autoActivate", which is reserved for plugins of the host; remove it from plugin.json.`,
      );
    return source;
  } catch (error) {
    if (error instanceof ManifestError)
      throw new InstallError(`Its plugin.json is invalid. ${error.message}`, { cause: error });
    throw error;
  }
}

/** Reads only the folder name. The manifest check reports all errors. */
function readSlug(text: string): string {
  try {
    const { slug } = JSON.parse(text) as { slug?: unknown };
    return typeof slug === 'string' ? slug : '';
  } catch {
    return '';
  }
}
