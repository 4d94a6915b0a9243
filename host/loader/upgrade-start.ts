import type { PluginDefinition, PluginUpgrade } from '#plugin-api';
import type { PluginSource } from './manifest.ts';
import type { Scope } from './scope.ts';
import type { Step } from './stages.ts';
import type { Upgrades } from './upgrade.ts';

export interface UpgradeStart {
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
export async function startUpgraded({
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
