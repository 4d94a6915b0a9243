import { createSystemClock } from '../../clock.ts';
import type { PluginSource } from '../../loader/manifest.ts';
import type { readTraces } from '../plugin-traces.ts';
import type { TestHost } from '../test-host.ts';
import type { RecordedRuns } from './filters.ts';

/** The site that the points are tried on, one after the other. */
export interface Subject {
  readonly host: TestHost;
  readonly source: PluginSource;
  readonly rounds: number;
  /** Another node of the site; null on SQLite. */
  readonly node: TestHost | null;
  /** Makes the folder of the plugin that of another version, and of this one again. */
  readonly switchTo: (directory: string) => Promise<void>;
  readonly previous: string | null;
  readonly browser: string | null;
  readonly before: Awaited<ReturnType<typeof readTraces>>;
  readonly beforeRoutes: readonly string[];
  readonly beforeCommands: readonly string[];
  readonly beforeShortcodes: readonly string[];
  /** What hooks have run with so far. */
  readonly runs: RecordedRuns;
}

export type Point = (subject: Subject) => Promise<string | undefined>;

/** Milliseconds of real time until another node follows an activation. */
export const followLimit = 10_000;
export const clock = createSystemClock();

/** Waits until another node has started or stopped the plugin, and until it has ended what it is doing. */
export async function follow(node: TestHost, slug: string, wanted: boolean): Promise<void> {
  const begin = performance.now();
  for (;;) {
    await node.plugins.sync();
    // Waits for a running operation, such as a start that began before the plugin was deactivated. `sync` does not.
    const found = (await node.plugins.discover()).find((each) => each.slug === slug);
    if ((found?.state === 'active') === wanted) return;
    if (performance.now() - begin > followLimit)
      throw new Error(
        wanted
          ? 'Another node did not start the plugin within 10 seconds.'
          : 'Another node did not stop the plugin within 10 seconds.',
      );
    await clock.sleep(50);
  }
}

/** Uninstalls the plugin after all nodes have stopped it: one that still starts it would make its tables and events again. */
export async function deactivateAndUninstall({ host, node, source: { manifest } }: Subject): Promise<void> {
  await host.plugins.deactivate(manifest.slug);
  if (node !== null) await follow(node, manifest.slug, false);
  await host.plugins.uninstall(manifest.slug);
}

/** The routes of the plugin, without those that the host adds to each namespace. */
export function ownRoutes({ host, beforeRoutes }: Subject) {
  return host.rest
    .describe()
    .filter(({ namespace, route }) => ![`/${namespace}`, `/${namespace}/openapi.json`].includes(route))
    .filter(({ route }) => !beforeRoutes.includes(route));
}
