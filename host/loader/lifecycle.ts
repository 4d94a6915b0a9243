import type { Migration, PluginDefinition } from '#plugin-api';
import { createPluginImporter } from './load.ts';
import type { PluginSource } from './manifest.ts';
import { createScope } from './scope.ts';
import type { Scope } from './scope.ts';
import type { HostServices } from './services.ts';
import { withinTime } from './time-limit.ts';

/** A plugin that was registered in this process. */
export interface RunningPlugin {
  readonly source: PluginSource;
  readonly definition: PluginDefinition;
  readonly scope: Scope;
}

/** What a plugin threw, with where in its life it did. */
export class StageError extends Error {
  override readonly name = 'StageError';
  readonly stage: string;

  constructor(stage: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.stage = stage;
  }
}

/** The steps of one plugin's life. Each throws a StageError, and leaves nothing of the plugin behind when it does. */
export interface Lifecycle {
  /** Imports, brings its tables up to date, registers. */
  start(source: PluginSource): Promise<RunningPlugin>;
  /** Runs its `activate`; the plugin is stopped when that fails. */
  activate(running: RunningPlugin): Promise<void>;
  /** Runs its `deactivate`, then stops it whether that failed or not. */
  deactivate(running: RunningPlugin): Promise<void>;
  /** Takes back everything it registered. Never throws. */
  stop(running: RunningPlugin): Promise<void>;
  /** Runs the `uninstall` of a plugin that is not running. */
  uninstall(source: PluginSource): Promise<void>;
}

interface LifecycleDependencies {
  readonly services: HostServices;
  readonly migrate: (slug: string, migrations: readonly Migration[]) => Promise<void>;
  readonly onRouteFailure: (slug: string, error: unknown) => void;
}

/** Seconds each step may take; migrations may take as long as they need. */
const limits = { import: 30, register: 10, activate: 60, deactivate: 10, uninstall: 60 } as const;

export function createLifecycle({ services, migrate, onRouteFailure }: LifecycleDependencies): Lifecycle {
  const importer = createPluginImporter();

  const step = async <Result>(stage: keyof typeof limits | 'migrate', work: () => Result | Promise<Result>): Promise<Result> => {
    try {
      if (stage === 'migrate') return await work();
      const seconds = limits[stage];
      return await withinTime(work(), { clock: services.clock, limit: seconds * 1000, sentence: `It took longer than ${seconds} seconds; do slow work later, not in '${stage}'.` });
    } catch (error) {
      throw new StageError(stage, error);
    }
  };
  const open = (source: PluginSource): Scope =>
    createScope({ source, services, onRouteFailure: (error) => onRouteFailure(source.manifest.slug, error) });

  return {
    async start(source) {
      const definition = await step('import', () => importer.load(source));
      const { migrations = [] } = definition;
      if (migrations.length > 0) await step('migrate', () => migrate(source.manifest.slug, migrations));
      const scope = await step('register', () => open(source));
      try {
        await step('register', () => definition.register(scope.host));
      } catch (error) {
        await scope.close();
        throw error;
      }
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
  };
}
