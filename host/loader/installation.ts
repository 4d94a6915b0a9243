import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import gt from 'semver/functions/gt.js';
import satisfies from 'semver/functions/satisfies.js';
import { describeError } from './quarantine.ts';
import { InstallError } from './install/allowance.ts';
import type { InstallLimits } from './install/allowance.ts';
import { healPluginFolder } from './install/recover-interrupted.ts';
import { replaceFolder } from './install/replace-folder.ts';
import { stage, type Staged } from './install/stage.ts';
import type { PluginSource } from './manifest.ts';
import type { Operations, OperationsDependencies } from './operations.ts';
import { UpgradeError } from './upgrade.ts';

/** What was installed. */
export interface Installed {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  /** The version whose place it took; null: it is new here. */
  readonly replaced: string | null;
  /** Whether `activate` found it inactive and activated it. */
  readonly activated: boolean;
}

export interface Installation {
  /** Absolute path of a plugin's folder or of a zip. */
  readonly path: string;
  /** Activates it afterwards. */
  readonly activate?: boolean;
}

interface InstallDependencies extends OperationsDependencies {
  readonly operations: Operations;
  readonly hostVersion: string;
  readonly limits: InstallLimits | undefined;
}

/**
 * Puts a plugin into the folder where plugins are installed: a new one, or a newer version of one that lies there. One
 * that runs is stopped, upgraded and started with all that require it; when that fails its old version is put back.
 *
 * @throws InstallError when it is refused, Error when it failed; each leaves everything as before, but an activation
 *   that fails leaves the plugin installed.
 */
export async function install(
  { path, activate = false }: Installation,
  dependencies: InstallDependencies,
): Promise<Installed> {
  const { fleet, operations, pluginDir, hostVersion, limits, versions, clock, log } = dependencies;
  if (pluginDir === undefined) throw new InstallError('There is no folder for plugins; set PLUGIN_DIRS.');
  await healPluginFolder({ pluginDir, versions, clock, log });
  await fleet.discover();
  const staged = await stage({ path, pluginDir, hostVersion, clock, ...(limits && { limits }) });
  try {
    const { slug, name, version } = staged.source.manifest;
    const place = join(pluginDir, slug);
    const old = await findOld(staged.source, place, dependencies);
    if (old) await replaceOld({ staged, old, place, pluginDir, activate }, dependencies);
    else await staged.moveTo(place);
    await fleet.discover();
    const activated = activate && (await operations.activate(slug));
    if (!activated) await fleet.reconcile();
    return { slug, name, version, replaced: old?.manifest.version ?? null, activated };
  } finally {
    await staged.discard();
  }
}

/** The installed version that the new one may replace; null: its place is free. @throws InstallError when neither. */
async function findOld(
  { manifest: { slug, version } }: PluginSource,
  place: string,
  { fleet, versions }: InstallDependencies,
): Promise<PluginSource | null> {
  const { discovery, running } = fleet.state();
  const old = discovery.plugins.get(slug);
  const found = await lstat(place).catch(() => null);
  if (!old) {
    if (found || discovery.broken.has(slug))
      throw new InstallError(`There is a folder '${slug}' already that holds no usable plugin; remove it first.`);
    await refuseOlder(slug, version, await versions.read(slug));
    return null;
  }
  if (old.mustUse || old.shipped)
    throw new InstallError(`The plugin '${slug}' comes with this host and is updated with it.`);
  if (!found?.isDirectory() || (await realpath(place)) !== old.directory)
    throw new InstallError(`The plugin '${slug}' is installed in another folder; update it there.`);
  if (old.manifest.version === version) throw new InstallError(`The plugin '${slug}' ${version} is installed already.`);
  if (!gt(version, old.manifest.version))
    throw new InstallError(
      `Version ${old.manifest.version} of the plugin '${slug}' is installed, and this is ${version}, which is not newer.`,
    );
  await refuseOlder(slug, version, await versions.read(slug));
  for (const { source } of running.values()) {
    const range = source.manifest.requires[slug];
    if (range !== undefined && !satisfies(version, range, { includePrerelease: true }))
      throw new InstallError(
        `The plugin '${source.manifest.slug}' requires '${slug}' ${range}, and this is version ${version}; deactivate or update '${source.manifest.slug}' first.`,
      );
  }
  return old;
}

async function refuseOlder(slug: string, version: string, recorded: string | null): Promise<void> {
  if (recorded !== null && gt(recorded, version))
    throw new InstallError(
      `Version ${recorded} of the plugin '${slug}' has run on this site, and this is ${version}; install ${recorded} or a newer one.`,
    );
}

interface Replacing {
  readonly staged: Staged;
  readonly old: PluginSource;
  readonly place: string;
  readonly pluginDir: string;
  readonly activate: boolean;
}

async function replaceOld(
  { staged, old, place, pluginDir, activate }: Replacing,
  { fleet, lifecycle, versions, clock }: InstallDependencies,
): Promise<void> {
  const { slug } = old.manifest;
  const wasRunning = fleet.state().running.has(slug);
  // Without a version that ran before there is nothing to go back to.
  const mustStart = wasRunning || (activate && (await versions.read(slug)) !== null);
  await fleet.suspend([slug]);
  await lifecycle.settled(old.directory);
  const replacement = await replaceFolder({ staged, place, pluginDir, clock }).catch(async (error: unknown) => {
    await fleet.reconcile();
    throw error;
  });
  try {
    await fleet.discover();
    if (mustStart) await fleet.begin(slug, 'throw');
  } catch (error) {
    await lifecycle.settled(old.directory);
    await replacement.takeBack();
    await fleet.discover();
    await fleet.reconcile();
    throw failureOf(error, { old, version: staged.source.manifest.version, runs: fleet.state().running.has(slug) });
  }
  await replacement.keep();
}

function failureOf(
  error: unknown,
  { old, version, runs }: { old: PluginSource; version: string; runs: boolean },
): Error {
  const { slug, version: before } = old.manifest;
  const reason = error instanceof UpgradeError ? error.reason : describeError(error, old);
  const backup =
    error instanceof UpgradeError && error.backup !== null ? ` A backup from before is ${error.backup}.` : '';
  return new Error(
    `The plugin '${slug}' could not be upgraded from ${before} to ${version}: ${reason.replaceAll(old.directory, slug)} Its folder and the database are as before${runs ? `, and version ${before} runs again` : ''}.${backup}`,
    { cause: error },
  );
}
