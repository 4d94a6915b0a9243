import { endSentence } from '#plugin-api';
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import gt from 'semver/functions/gt.js';
import satisfies from 'semver/functions/satisfies.js';
import { describeError } from './quarantine.ts';
import { InstallError } from './install/allowance.ts';
import type { InstallLimits } from './install/allowance.ts';
import { isWorkingCopy } from './install/installed-mark.ts';
import { requireSignature } from './install/signature.ts';
import { recoverInterrupted } from './install/recover-interrupted.ts';
import { replaceFolder } from './install/replace-folder.ts';
import { stage, type Staged } from './install/stage.ts';
import type { PluginSource } from './manifest.ts';
import type { Operations, OperationsDependencies } from './operations.ts';
import { UpgradeError } from './upgrade.ts';

export interface Installed {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  /** The replaced version; null for a new plugin. */
  readonly replaced: string | null;
  readonly activated: boolean;
}

export interface Installation {
  /** Absolute path of a plugin folder or a zip file. */
  readonly path: string;
  /** Activates the plugin after the installation. */
  readonly activate?: boolean;
  /** Refuses plugins that are not installed. Default: false. */
  readonly updatesOnly?: boolean;
}

interface InstallDependencies extends OperationsDependencies {
  readonly operations: Operations;
  readonly hostVersion: string;
  readonly limits: InstallLimits | undefined;
}

/**
 * Installs a new plugin or a newer version. Stops, upgrades and restarts a running plugin and those that require it. Restores
 * the old version if that fails.
 *
 * @throws InstallError if the plugin is rejected, Error if it fails; both undo all changes. A failed activation leaves the
 *   plugin installed.
 */
export async function install(
  { path, activate = false, updatesOnly = false }: Installation,
  dependencies: InstallDependencies,
): Promise<Installed> {
  const { runningPlugins, operations, pluginDir, hostVersion, limits, versions, clock, documents, log } = dependencies;
  if (pluginDir === undefined) throw new InstallError('No plugin folder is configured; set PLUGIN_DIRS.');
  await recoverInterrupted({ pluginDir, versions, clock, log });
  await runningPlugins.discover();
  const staged = await stage({ path, pluginDir, hostVersion, clock, documents, ...(limits && { limits }) });
  try {
    const { slug, name, version } = staged.source.manifest;
    const target = join(pluginDir, slug);
    const old = await findInstalled(staged.source, target, dependencies);
    if (!old && updatesOnly)
      throw new InstallError(`The plugin '${slug}' is not installed. To install it, run: plugin install <zip>`);
    const key = old?.manifest.updateKey;
    if (key !== undefined) await requireSignature(path, { slug, key });
    if (old) await replaceInstalled({ staged, old, target, pluginDir, activate }, dependencies);
    else await staged.moveTo(target);
    await runningPlugins.discover();
    const activated = activate && (await operations.activate(slug));
    if (!activated) await runningPlugins.reconcile();
    return { slug, name, version, replaced: old?.manifest.version ?? null, activated };
  } finally {
    await staged.discard();
  }
}

/** The installed version to replace; null for a new plugin. @throws InstallError if neither is possible. */
async function findInstalled(
  { manifest: { slug, version } }: PluginSource,
  target: string,
  { runningPlugins, versions }: InstallDependencies,
): Promise<PluginSource | null> {
  const { discovery, running } = runningPlugins.state();
  const old = discovery.plugins.get(slug);
  const found = await lstat(target).catch(() => null);
  if (!old) {
    if (found || discovery.broken.has(slug))
      throw new InstallError(`The folder '${slug}' already exists without a valid plugin; delete it first.`);
    await rejectOlder(slug, version, await versions.read(slug));
    return null;
  }
  if (old.mustUse || old.shipped)
    throw new InstallError(`The plugin '${slug}' ships with this host and is updated with it.`);
  if (!found?.isDirectory() || (await realpath(target)) !== old.directory)
    throw new InstallError(`The plugin '${slug}' is installed in another folder; update it there.`);
  if (await isWorkingCopy(old.directory))
    throw new InstallError(
      `The folder of the plugin '${slug}' is a Git working copy; update it there, for example with git pull.`,
    );
  if (old.manifest.version === version) throw new InstallError(`The plugin '${slug}' ${version} is already installed.`);
  if (!gt(version, old.manifest.version))
    throw new InstallError(
      `Version ${old.manifest.version} of the plugin '${slug}' is installed; ${version} is not newer.`,
    );
  await rejectOlder(slug, version, await versions.read(slug));
  for (const { source } of running.values()) {
    const range = source.manifest.requires[slug];
    if (range !== undefined && !satisfies(version, range, { includePrerelease: true }))
      throw new InstallError(
        `The plugin '${source.manifest.slug}' requires '${slug}' ${range}, but this is version ${version}; deactivate or update it first.`,
      );
  }
  return old;
}

async function rejectOlder(slug: string, version: string, recorded: string | null): Promise<void> {
  if (recorded !== null && gt(recorded, version))
    throw new InstallError(
      `Version ${recorded} of the plugin '${slug}' has run on this site, but this is ${version}; install ${recorded} or newer.`,
    );
}

interface Replacing {
  readonly staged: Staged;
  readonly old: PluginSource;
  readonly target: string;
  readonly pluginDir: string;
  readonly activate: boolean;
}

async function replaceInstalled(
  { staged, old, target, pluginDir, activate }: Replacing,
  { runningPlugins, versions, clock }: InstallDependencies,
): Promise<void> {
  const { slug } = old.manifest;
  const wasRunning = runningPlugins.state().running.has(slug);
  // A rollback needs a version that has run before.
  const mustStart = wasRunning || (activate && (await versions.read(slug)) !== null);
  await runningPlugins.suspend([slug]);
  const replacement = await replaceFolder({ staged, target, pluginDir, clock }).catch(async (error: unknown) => {
    await runningPlugins.reconcile();
    throw error;
  });
  try {
    await runningPlugins.discover();
    const isWanted = async (): Promise<boolean> => activate || (await runningPlugins.isWanted(slug));
    if (mustStart) await runningPlugins.begin(slug, { onFailure: 'throw', isWanted });
  } catch (error) {
    await replacement.rollBack();
    await runningPlugins.discover();
    await runningPlugins.reconcile();
    throw toUpgradeFailure(error, {
      old,
      version: staged.source.manifest.version,
      runs: runningPlugins.state().running.has(slug),
    });
  }
  await replacement.keep();
}

function toUpgradeFailure(
  error: unknown,
  { old, version, runs }: { old: PluginSource; version: string; runs: boolean },
): Error {
  const { slug, version: before } = old.manifest;
  const reason = error instanceof UpgradeError ? error.reason : describeError(error, old);
  const backup = error instanceof UpgradeError && error.backup !== null ? ` The backup is ${error.backup}.` : '';
  return new Error(
    `Failed to upgrade the plugin '${slug}' from ${before} to ${version}: ${endSentence(reason.replaceAll(old.directory, slug))} ` +
      `The folder and the database were restored${runs ? `, and version ${before} runs again` : ''}.${backup}`,
    { cause: error },
  );
}
