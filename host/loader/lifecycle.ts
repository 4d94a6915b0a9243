import {
  errorText,
  type HealthResult,
  type HostApi,
  type Migration,
  type PluginDefinition,
  type PluginUpgrade,
} from '#plugin-api';
import { noteGlobals } from './global-guard.ts';
import { createPluginImporter } from './load.ts';
import type { PluginSource } from './manifest.ts';
import { createScope, type Scope } from './scope.ts';
import type { HostServices } from './services.ts';
import { createStep, StageError, type Step } from './stages.ts';
import { BlockedError, type Upgrades } from './upgrade.ts';

export interface PluginHealth {
  readonly slug: string;
  readonly results: readonly HealthResult[];
}

const statuses: readonly unknown[] = ['good', 'recommended', 'critical'];

/** Runs the health check of a plugin. A check that throws becomes a critical result. Never throws. */
export async function runHealthCheck(step: Step, check: () => unknown): Promise<HealthResult[]> {
  try {
    return parseFindings(await step('health', check));
  } catch (error) {
    return [
      {
        status: 'critical',
        label: 'The health check failed',
        description: errorText(error),
      },
    ];
  }
}

/**
 * Validates the result of `health`, because a plugin in plain JavaScript can return anything.
 *
 * @throws Error that describes the expected result.
 */
function parseFindings(result: unknown): HealthResult[] {
  if (!Array.isArray(result)) throw new Error("'health' must return an array of {status, label, description}.");
  return result.map((finding: unknown) => {
    const { status, label, description } = (finding ?? {}) as Partial<Record<keyof HealthResult, unknown>>;
    if (!statuses.includes(status) || typeof label !== 'string')
      throw new Error("Each result of 'health' needs a status ('good', 'recommended' or 'critical') and a label.");
    return {
      status: status as HealthResult['status'],
      label,
      description: typeof description === 'string' ? description : '',
    };
  });
}

/** A plugin that is registered in this process. */
export interface RunningPlugin {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
  readonly scope: Scope;
}

/** The lifecycle of one plugin. Each step throws a StageError after undoing its work. */
export interface Lifecycle {
  /**
   * Imports the plugin, runs its migrations and registers it. If an older version ran before, all of that and `upgrade`
   * happen in one transaction.
   *
   * @param definition code that is loaded already. Default: it is imported.
   * @throws BlockedError if a newer version ran before; UpgradeError if the upgrade failed.
   */
  start(source: PluginSource, definition?: PluginDefinition): Promise<RunningPlugin>;
  /** Imports the plugin, so that code that cannot be imported is known before the running one stops. */
  prepare(source: PluginSource): Promise<void>;
  /** Runs `activate`. Stops the plugin if it fails. */
  activate(running: RunningPlugin): Promise<void>;
  /** Runs `deactivate`, then stops the plugin even if it failed. */
  deactivate(running: RunningPlugin): Promise<void>;
  /** Undoes everything it registered. Never throws. */
  stop(running: RunningPlugin): Promise<void>;
  /** Runs `uninstall` of a stopped plugin. Returns its definition. */
  uninstall(source: PluginSource): Promise<PluginDefinition>;
  /** Runs its health check. A check that fails becomes a critical result. Never throws. */
  health(running: RunningPlugin): Promise<readonly HealthResult[]>;
}

/** Runs code of a plugin so that errors of what it starts are known as its own. */
export interface PluginContexts {
  run<Result>(slug: string, work: () => Result): Result;
  /** `run` for a step of the lifecycle. */
  runStep<Result>(slug: string, work: () => Promise<Result>): Promise<Result>;
}

const noContexts: PluginContexts = { run: (_slug, work) => work(), runStep: (_slug, work) => work() };

export interface LifecycleDependencies {
  readonly services: HostServices;
  /** Default: none. */
  readonly contexts?: PluginContexts;
  readonly migrate: (slug: string, migrations: readonly Migration[]) => Promise<void>;
  readonly upgrades: Upgrades;
  readonly onUpgrade: (slug: string, versions: PluginUpgrade) => void;
  readonly onRouteFailure: (slug: string, error: unknown) => void;
  readonly onWarning: (slug: string, message: string) => void;
}

export function createLifecycle({
  services,
  contexts = noContexts,
  migrate,
  upgrades,
  onUpgrade,
  onRouteFailure,
  onWarning,
}: LifecycleDependencies): Lifecycle {
  const importer = createPluginImporter();
  const step = createStep(services.clock);
  const owners = new Map<string, string>();
  const open = (source: PluginSource): Scope =>
    createScope({
      source,
      services,
      owners,
      run: (work) => contexts.run(source.manifest.slug, work),
      onRouteFailure: (error) => onRouteFailure(source.manifest.slug, error),
      onWarning: (message) => onWarning(source.manifest.slug, message),
    });
  /**
   * Whatever it replaces of the language breaks every other part, so it is restored once it returns, and when it has ended. Plugins
   * that ship with the host replace nothing, and to note what all others may replace makes Node load its whole HTTP client.
   */
  const guarded = async <Result>(source: PluginSource, work: () => Promise<Result>): Promise<Result> => {
    const { slug } = source.manifest;
    if (source.shipped) return work();
    const restore = noteGlobals();
    const check = (): void => {
      const { restored, locked } = restore();
      if (restored.length > 0)
        onWarning(
          slug,
          `It replaced ${restored.join(', ')}, which the whole process uses, so the original was restored. Use a function of your own.`,
        );
      if (locked.length > 0)
        onWarning(
          slug,
          `It replaced ${locked.join(', ')}, which the whole process uses, and locked it. Deactivate the plugin and restart the site.`,
        );
    };
    const running = work();
    check();
    return running.finally(check);
  };
  const register: Register = ({ source, definition, host }) =>
    step('register', () =>
      services.cron.gather(host.plugin.slug, () => guarded(source, async () => definition.register(host))),
    );
  /** Opens a scope for the work and closes it if the work fails. */
  const withScope = async (source: PluginSource, work: (scope: Scope) => Promise<void>): Promise<Scope> => {
    const scope = await step('register', () => open(source));
    try {
      await work(scope);
      return scope;
    } catch (error) {
      await scope.close();
      throw error;
    }
  };

  const start: Lifecycle['start'] = async (source, loaded) => {
    const { slug, version } = source.manifest;
    const versions = await upgrades.due(slug, version);
    const definition = loaded ?? (await guarded(source, () => step('import', () => importer.load(source))));
    if (versions) {
      const { scope, upgraded } = await startUpgraded({
        source,
        definition,
        versions,
        upgrades,
        step,
        register,
        withScope,
      });
      if (upgraded) onUpgrade(slug, versions);
      return { source, definition, scope };
    }
    const { migrations = [] } = definition;
    if (migrations.length > 0)
      await step('migrate', () => migrate(slug, migrations)).catch((error: unknown) => {
        throw isNewer(error) ? new BlockedError(errorText(error), { cause: error }) : error;
      });
    const scope = await withScope(source, async ({ host }) => {
      await register({ source, definition, host });
      await upgrades.record(slug, version);
    });
    return { source, definition, scope };
  };
  const uninstall: Lifecycle['uninstall'] = async (source) => {
    const definition = await guarded(source, () => step('import', () => importer.load(source)));
    const scope = await step('uninstall', () => open(source));
    try {
      await guarded(source, () => step('uninstall', () => definition.uninstall?.(scope.host)));
    } finally {
      await scope.close();
    }
    return definition;
  };
  const inContext = <Result>({ manifest }: PluginSource, work: () => Promise<Result>): Promise<Result> =>
    contexts.runStep(manifest.slug, work);

  return {
    start: (source, definition) => inContext(source, () => start(source, definition)),
    prepare: (source) =>
      inContext(source, () => guarded(source, () => step('import', () => importer.load(source)))).then(() => undefined),
    activate: ({ source, definition, scope }) =>
      inContext(source, async () => {
        try {
          await guarded(source, () => step('activate', () => definition.activate?.(scope.host)));
        } catch (error) {
          await scope.close();
          throw error;
        }
      }),
    deactivate: ({ source, definition, scope }) =>
      inContext(source, async () => {
        try {
          await guarded(source, () => step('deactivate', () => definition.deactivate?.(scope.host)));
        } finally {
          await scope.close();
        }
      }),
    stop: ({ source, scope }) => inContext(source, () => scope.close()),
    uninstall: (source) => inContext(source, () => uninstall(source)),
    health: ({ source, definition, scope }) =>
      inContext(source, () => runHealthCheck(step, () => definition.health?.(scope.host) ?? [])),
  };
}

/** The plugin of another process has migrated the data, which is no error of this one. */
function isNewer(error: unknown): boolean {
  return error instanceof StageError && (error.cause as { name?: unknown } | null)?.name === 'NewerDatabaseError';
}

/** Registers a plugin and then schedules its recurring jobs. */
type Register = (plugin: {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
  readonly host: HostApi;
}) => Promise<void>;

interface UpgradeStart {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
  readonly versions: PluginUpgrade;
  readonly upgrades: Upgrades;
  readonly step: Step;
  readonly register: Register;
  /** Opens a scope for the work and closes it if the work fails. */
  readonly withScope: (source: PluginSource, work: (scope: Scope) => Promise<void>) => Promise<Scope>;
}

/**
 * Migrates, registers and upgrades in one transaction. Returns the open scope and whether this process upgraded the data:
 * another process may have done so while this one waited for the transaction.
 *
 * @throws UpgradeError after undoing everything.
 */
async function startUpgraded({
  source,
  definition,
  versions,
  upgrades,
  step,
  register,
  withScope,
}: UpgradeStart): Promise<{ readonly scope: Scope; readonly upgraded: boolean }> {
  const { slug } = source.manifest;
  const opened: Scope[] = [];
  let upgraded = false;
  try {
    return await upgrades.run({
      slug,
      versions,
      migrations: definition.migrations ?? [],
      async work() {
        const scope = await withScope(source, async (each) => {
          await register({ source, definition, host: each.host });
          upgraded = await upgrades.record(slug, versions.to);
          if (upgraded) await step('upgrade', () => definition.upgrade?.(each.host, versions));
        });
        opened.push(scope);
        return { scope, upgraded };
      },
    });
  } catch (error) {
    // The commit may have failed.
    for (const scope of opened) await scope.close();
    throw error;
  }
}
