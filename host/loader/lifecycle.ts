import type { HealthResult, Migration, PluginDefinition, PluginUpgrade } from '#plugin-api';
import { createPluginImporter } from './load.ts';
import type { PluginSource } from './manifest.ts';
import { createScope, type Scope } from './scope.ts';
import type { HostServices } from './services.ts';
import { createStep, type Step } from './stages.ts';
import type { Upgrades } from './upgrade.ts';

/** What one plugin found about itself. */
export interface PluginHealth {
  readonly slug: string;
  readonly results: readonly HealthResult[];
}

const statuses: readonly unknown[] = ['good', 'recommended', 'critical'];

/** Lets a plugin look after itself. A check that fails is a finding too, so this never throws. */
export async function askHealth(step: Step, check: () => unknown): Promise<HealthResult[]> {
  try {
    return readFindings(await step('health', check));
  } catch (error) {
    return [
      {
        status: 'critical',
        label: 'The health check itself failed',
        description: error instanceof Error ? error.message : String(error),
      },
    ];
  }
}

/**
 * What a plugin's `health` answered, which may be anything where it is written in plain JavaScript.
 *
 * @throws Error that says what it should have answered.
 */
function readFindings(answer: unknown): HealthResult[] {
  if (!Array.isArray(answer)) throw new Error("'health' must answer an array of {status, label, description}.");
  return answer.map((finding: unknown) => {
    const { status, label, description } = (finding ?? {}) as Partial<Record<keyof HealthResult, unknown>>;
    if (!statuses.includes(status) || typeof label !== 'string')
      throw new Error("Each finding of 'health' needs a status ('good', 'recommended' or 'critical') and a label.");
    return {
      status: status as HealthResult['status'],
      label,
      description: typeof description === 'string' ? description : '',
    };
  });
}

/** A plugin that was registered in this process. */
export interface RunningPlugin {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
  readonly scope: Scope;
}

/** The steps of one plugin's life. Each throws a StageError, and leaves nothing of the plugin behind when it does. */
export interface Lifecycle {
  /**
   * Imports, brings its tables up to date, registers. When an older version ran before, all of that and its `upgrade`
   * happen in one transaction.
   *
   * @throws BlockedError when a newer version ran before; UpgradeError when an upgrade failed.
   */
  start(source: PluginSource): Promise<RunningPlugin>;
  /** Runs its `activate`; the plugin is stopped when that fails. */
  activate(running: RunningPlugin): Promise<void>;
  /** Runs its `deactivate`, then stops it whether that failed or not. */
  deactivate(running: RunningPlugin): Promise<void>;
  /** Takes back everything it registered. Never throws. */
  stop(running: RunningPlugin): Promise<void>;
  /** Runs the `uninstall` of a plugin that is not running. */
  uninstall(source: PluginSource): Promise<void>;
  /** What it finds about itself; a check that fails is a finding. Never throws. */
  health(running: RunningPlugin): Promise<readonly HealthResult[]>;
  /** Waits until nothing of the folder is being read, so that it can be moved. */
  settled(directory: string): Promise<void>;
}

export interface LifecycleDependencies {
  readonly services: HostServices;
  readonly migrate: (slug: string, migrations: readonly Migration[]) => Promise<void>;
  readonly upgrades: Upgrades;
  readonly onUpgrade: (slug: string, versions: PluginUpgrade) => void;
  readonly onRouteFailure: (slug: string, error: unknown) => void;
}

export function createLifecycle({
  services,
  migrate,
  upgrades,
  onUpgrade,
  onRouteFailure,
}: LifecycleDependencies): Lifecycle {
  const importer = createPluginImporter();
  const step = createStep(services.clock);
  const open = (source: PluginSource): Scope =>
    createScope({ source, services, onRouteFailure: (error) => onRouteFailure(source.manifest.slug, error) });
  /** The plugin's own work with its host, which is closed when that fails. */
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

  return {
    async start(source) {
      const { slug, version } = source.manifest;
      const versions = await upgrades.due(slug, version);
      const definition = await step('import', () => importer.load(source));
      if (versions) {
        const { scope, upgraded } = await startUpgraded({ source, definition, versions, upgrades, step, withScope });
        if (upgraded) onUpgrade(slug, versions);
        return { source, definition, scope };
      }
      const { migrations = [] } = definition;
      if (migrations.length > 0) await step('migrate', () => migrate(slug, migrations));
      const scope = await withScope(source, ({ host }) => step('register', () => definition.register(host)));
      await upgrades.record(slug, version);
      return { source, definition, scope };
    },
    async activate({ definition, scope }) {
      try {
        await step('activate', () => definition.activate?.(scope.host));
      } catch (error) {
        await scope.close();
        throw error;
      }
    },
    async deactivate({ definition, scope }) {
      try {
        await step('deactivate', () => definition.deactivate?.(scope.host));
      } finally {
        await scope.close();
      }
    },
    stop: ({ scope }) => scope.close(),
    async uninstall(source) {
      const definition = await step('import', () => importer.load(source));
      const scope = await step('uninstall', () => open(source));
      try {
        await step('uninstall', () => definition.uninstall?.(scope.host));
      } finally {
        await scope.close();
      }
    },
    health: ({ definition, scope }) => askHealth(step, () => definition.health?.(scope.host) ?? []),
    settled: (directory) => importer.settled(directory),
  };
}

interface UpgradeStart {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
  readonly versions: PluginUpgrade;
  readonly upgrades: Upgrades;
  readonly step: Step;
  /** Opens a scope for the work, and closes it when that fails. */
  readonly withScope: (source: PluginSource, work: (scope: Scope) => Promise<void>) => Promise<Scope>;
}

/**
 * Migrates, registers and upgrades in one transaction. Answers the open scope, and whether the data was upgraded here:
 * another process may have done it while this one waited for the transaction.
 *
 * @throws UpgradeError; then nothing is left of it.
 */
async function startUpgraded({
  source,
  definition,
  versions,
  upgrades,
  step,
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
          await step('register', () => definition.register(each.host));
          upgraded = await upgrades.record(slug, versions.to);
          if (upgraded) await step('upgrade', () => definition.upgrade?.(each.host, versions));
        });
        opened.push(scope);
        return { scope, upgraded };
      },
    });
  } catch (error) {
    // It may be the commit that failed.
    for (const scope of opened) await scope.close();
    throw error;
  }
}
