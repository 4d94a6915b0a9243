import { endSentence, errorText, type Clock, type DocumentsApi, type Logger, type PluginDefinition } from '#plugin-api';
import type { PluginClaims } from './claims.ts';
import type { FailedStarts } from './failed-starts.ts';
import { describeError } from './quarantine.ts';
import type { PluginWarnings, Quarantine } from './quarantine.ts';
import { requireSource } from './discover.ts';
import { NotWantedError } from './running-set.ts';
import type { RunningPlugins } from './running-plugins.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { PluginSource } from './manifest.ts';
import { orderPlugins } from './order.ts';
import { recoverInterrupted } from './install/recover-interrupted.ts';
import { isRemovable, removeFolder, type Removing } from './install/replace-folder.ts';
import type { StoredFailures, StoredSettings, StoredSlugs } from './stored-state.ts';
import type { StoredVersions } from './stored-state.ts';

export interface Uninstallation {
  /** Deletes the folder even if no installation wrote it. Default: false. */
  readonly deleteFiles?: boolean;
  /** Refuses, and deletes nothing, if the folder would stay. Default: false. */
  readonly onlyWithFolder?: boolean;
  /** Goes on if the plugin's `uninstall` fails: what that function would have deleted stays. Default: false. */
  readonly force?: boolean;
}

export interface Uninstalled {
  readonly folderRemoved: boolean;
  /** Ids of migrations whose tables stay, because the plugin has no `uninstall`. A new installation uses these tables. */
  readonly remainingMigrations: readonly string[];
  /** Why the plugin's `uninstall` failed, with `force`. */
  readonly failure?: string;
}

/** Operations on all plugins. They must not run concurrently. */
export interface Operations {
  /** Returns the slugs of newly activated plugins. */
  start(): Promise<readonly string[]>;
  /** Starts what could not be started before, when its time has come. Returns the slugs of newly activated plugins. */
  retry(): Promise<readonly string[]>;
  /** Returns whether the plugin was inactive before. */
  activate(slug: string): Promise<boolean>;
  /** Returns whether the plugin was active before. */
  deactivate(slug: string): Promise<boolean>;
  uninstall(slug: string, init?: Uninstallation): Promise<Uninstalled>;
  /** See the loader. */
  develop(directory: string): Promise<string>;
  /** Starts and stops plugins of this process to match the stored state. */
  sync(): Promise<void>;
  /** Stops a running plugin, and those that require it, after an error that nothing caught. Does nothing for others. */
  contain(slug: string, error: unknown): Promise<void>;
  stop(): Promise<void>;
}

export interface OperationsDependencies {
  readonly runningPlugins: RunningPlugins;
  /** Whether this process does not start the plugin. */
  readonly isLeftOut: (slug: string) => boolean;
  readonly claims: PluginClaims;
  readonly lifecycle: Lifecycle;
  /** The option `active_plugins`. */
  readonly active: StoredSlugs;
  /** Plugins with `autoActivate` that an administrator has deactivated. */
  readonly declined: StoredSlugs;
  readonly failures: StoredFailures;
  readonly failedStarts: FailedStarts;
  readonly warnings: PluginWarnings;
  readonly quarantine: Quarantine;
  readonly versions: StoredVersions;
  readonly forgetMigrations: ((slug: string) => Promise<void>) | undefined;
  /** Deletes what the host stores for an uninstalled plugin: jobs, cron events. */
  readonly removeStored: (slug: string) => Promise<unknown>;
  readonly settings: StoredSettings;
  /** Folder for installed plugins. */
  readonly pluginDir: string | undefined;
  readonly clock: Clock;
  readonly documents: DocumentsApi;
  readonly log: Logger;
}

export function createOperations(dependencies: OperationsDependencies): Operations {
  const { runningPlugins, failures } = dependencies;
  const sync = async (): Promise<void> => {
    await failures.load();
    await runningPlugins.discover();
    await runningPlugins.reconcile();
  };
  return {
    sync,
    async retry() {
      await sync();
      return activateShipped(dependencies);
    },
    async start() {
      const { pluginDir, versions, clock, log } = dependencies;
      if (pluginDir !== undefined) await recoverInterrupted({ pluginDir, versions, clock, log });
      await sync();
      return activateShipped(dependencies);
    },
    async activate(slug) {
      await runningPlugins.discover();
      const isNew = await startAndActivate(slug, dependencies);
      await failures.clear(slug);
      await dependencies.declined.remove(slug);
      // Other plugins may require it.
      await runningPlugins.reconcile();
      return isNew;
    },
    develop: (directory) => develop(directory, dependencies),
    deactivate: (slug) => deactivate(slug, dependencies),
    uninstall: (slug, init) => uninstall(slug, dependencies, init),
    contain: (slug, error) => contain(slug, error, dependencies),
    async stop() {
      for (const slug of [...runningPlugins.state().running.keys()].reverse()) await runningPlugins.end(slug);
      await failures.flush();
    },
  };
}

/** Nothing is stored, so the next start without `develop` is as before. */
async function develop(
  directory: string,
  { runningPlugins, lifecycle, active, warnings }: OperationsDependencies,
): Promise<string> {
  const slug = runningPlugins.develop(directory);
  const former = runningPlugins.state().running.get(slug);
  const hasRun = former !== undefined || (await active.read()).includes(slug);
  try {
    await runningPlugins.discover();
    await lifecycle.prepare(requireSource(slug, runningPlugins.state().discovery));
    await runningPlugins.suspend([slug]);
    const plugin = await runningPlugins.begin(slug, { onFailure: 'throw' });
    for (const id of changedMigrations(former?.definition, plugin.definition))
      warnings.add(
        slug,
        `The migration '${id}' has changed after it ran, so this database does not have the change. Add another migration.`,
      );
    if (!hasRun) await lifecycle.activate(plugin);
  } catch (error) {
    if (former === undefined) throw error;
    if (!runningPlugins.state().running.has(slug)) await runningPlugins.begin(slug, { onFailure: 'throw', former });
    await runningPlugins.reconcile();
    throw new Error(`${endSentence(errorText(error))} The code before this change runs on.`, { cause: error });
  }
  await runningPlugins.reconcile();
  return slug;
}

function changedMigrations(former: PluginDefinition | undefined, { migrations = [] }: PluginDefinition): string[] {
  const texts = new Map(former?.migrations?.map(({ id, up }) => [id, String(up)]));
  return migrations.filter(({ id, up }) => (texts.get(id) ?? String(up)) !== String(up)).map(({ id }) => id);
}

/** Starts a plugin and stores it as active. The process that stored it runs `activate`. */
async function startAndActivate(
  slug: string,
  { runningPlugins, lifecycle, active, quarantine }: OperationsDependencies,
  isWanted?: () => Promise<boolean>,
): Promise<boolean> {
  const plugin = await runningPlugins.begin(slug, { ...(isWanted && { isWanted }) });
  if (plugin.source.mustUse || !(await active.add(slug))) return false;
  try {
    await lifecycle.activate(plugin);
    return true;
  } catch (error) {
    await runningPlugins.end(slug);
    // It was active for this activation only, so that nothing else has begun to use it.
    await active.remove(slug);
    throw await quarantine(plugin.source, error);
  }
}

async function deactivate(
  slug: string,
  { runningPlugins, lifecycle, active, declined, failures }: OperationsDependencies,
): Promise<boolean> {
  const { running, discovery } = runningPlugins.state();
  if (!running.has(slug) && !(await active.read()).includes(slug) && !discovery.broken.has(slug))
    requireSource(slug, discovery);
  refuseMustUse(discovery.plugins.get(slug), 'deactivated');
  const dependents = [...running.values()]
    .map(({ source }) => source.manifest)
    .filter(({ requires }) => Object.hasOwn(requires, slug));
  if (dependents.length > 0) {
    throw new Error(
      `The plugin '${slug}' is required by ${dependents.map((manifest) => `'${manifest.slug}'`).join(', ')}; deactivate those first.`,
    );
  }
  await runningPlugins.end(slug, lifecycle.deactivate);
  const wasActive = await active.remove(slug);
  if (discovery.plugins.get(slug)?.manifest.autoActivate) await declined.add(slug);
  await failures.clear(slug);
  await runningPlugins.reconcile();
  return wasActive;
}

async function uninstall(
  slug: string,
  dependencies: OperationsDependencies,
  { deleteFiles = false, onlyWithFolder = false, force = false }: Uninstallation = {},
): Promise<Uninstalled> {
  const { runningPlugins, claims, active, pluginDir } = dependencies;
  await runningPlugins.discover();
  const { running, discovery } = runningPlugins.state();
  refuseMustUse(discovery.plugins.get(slug), 'uninstalled');
  const refuseActive = async (): Promise<void> => {
    if (running.has(slug) || (await active.read()).includes(slug))
      throw new Error(`The plugin '${slug}' is active; deactivate it before you uninstall it.`);
  };
  await refuseActive();
  const source = requireSource(slug, discovery);
  const folder = pluginDir === undefined || source.shipped ? null : { source, pluginDir, deleteFiles };
  if (onlyWithFolder && (folder === null || !(await isRemovable(folder))))
    throw new Error(
      `The plugin '${slug}' was not deleted, because its folder would stay: no installation here wrote it, or it is a ` +
        `Git working copy. Run: plugin uninstall ${slug} --delete-files`,
    );
  const release = await claims.uninstall(slug);
  try {
    // Another process may have activated it meanwhile.
    active.refresh();
    await refuseActive();
    return await deletePlugin(source, dependencies, { folder, force });
  } finally {
    await release();
  }
}

async function deletePlugin(
  source: PluginSource,
  dependencies: OperationsDependencies,
  { folder, force }: { readonly folder: Removing | null; readonly force: boolean },
): Promise<Uninstalled> {
  const { runningPlugins, lifecycle, failures, versions, forgetMigrations, removeStored, settings, clock } =
    dependencies;
  const { slug } = source.manifest;
  let failure: string | undefined;
  const definition = await lifecycle.uninstall(source).catch((error: unknown) => {
    failure = describeError(error, source);
    if (force) return null;
    throw new Error(
      `The plugin '${slug}' could not be uninstalled: ${endSentence(failure)} ` +
        `To delete it without its function 'uninstall', run: plugin uninstall ${slug} --force`,
      { cause: error },
    );
  });
  // The tables stay, and running their migrations again would fail.
  const remainingMigrations = definition?.uninstall ? [] : (definition?.migrations ?? []).map(({ id }) => id);
  if (definition !== null && remainingMigrations.length === 0) await forgetMigrations?.(slug);
  await removeStored(slug);
  await settings.remove(slug);
  await versions.forget(slug);
  await failures.clear(slug);
  const failed = failure === undefined ? {} : { failure };
  if (folder === null) return { folderRemoved: false, remainingMigrations, ...failed };
  const folderRemoved = await removeFolder(folder, clock);
  await runningPlugins.discover();
  return { folderRemoved, remainingMigrations, ...failed };
}

async function contain(
  slug: string,
  error: unknown,
  { runningPlugins, failures, clock, log }: OperationsDependencies,
): Promise<void> {
  const plugin = runningPlugins.state().running.get(slug);
  if (!plugin) return;
  const message = describeError(error, plugin.source);
  log.error('Plugin stopped after an error that nothing caught', {
    event: 'plugin_crashed',
    plugin: slug,
    error,
  });
  failures.note(slug, { stage: 'crash', message, at: clock.now() });
  await runningPlugins.crash(slug, `${message} (nothing caught this error, so the plugin was stopped in this process)`);
  await runningPlugins.reconcile();
}

function refuseMustUse(source: PluginSource | undefined, verb: string): void {
  if (source?.mustUse)
    throw new Error(
      `The plugin '${source.manifest.slug}' is a must-use plugin and cannot be ${verb}; move its folder out of 'must-use' and restart.`,
    );
}

async function activateShipped(dependencies: OperationsDependencies): Promise<string[]> {
  const { runningPlugins, declined, log } = dependencies;
  const activated: string[] = [];
  for (const slug of await findAutoActivated(dependencies)) {
    const isWanted = async (): Promise<boolean> => {
      declined.refresh();
      return !(await declined.read()).includes(slug);
    };
    try {
      if (await startAndActivate(slug, dependencies, isWanted)) activated.push(slug);
    } catch (error) {
      if (error instanceof NotWantedError) continue;
      log.warn('Failed to activate a shipped plugin', { event: 'plugin_auto_activation_failed', plugin: slug, error });
    }
  }
  if (activated.length > 0) await runningPlugins.reconcile();
  return activated;
}

/** Plugins with `autoActivate` in start order, without those that an administrator deactivated or that wait for their next try. */
async function findAutoActivated({
  runningPlugins,
  isLeftOut,
  declined,
  failedStarts,
}: Pick<OperationsDependencies, 'runningPlugins' | 'isLeftOut' | 'declined' | 'failedStarts'>): Promise<string[]> {
  const { discovery, wanted } = runningPlugins.state();
  const refused = await declined.read();
  const shipped = [...discovery.plugins.values()]
    .filter((source) => source.manifest.autoActivate === true && !isLeftOut(source.manifest.slug))
    .filter((source) => failedStarts.reasonOf(source) === null)
    .map(({ manifest }) => manifest.slug)
    .filter((slug) => !wanted.includes(slug) && !refused.includes(slug));
  return orderPlugins([...wanted, ...shipped], discovery.plugins)
    .ordered.map(({ manifest }) => manifest.slug)
    .filter((slug) => shipped.includes(slug));
}
