import type { Clock } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import type { HoldMode, Release } from '../database/dialects/dialect.ts';

/**
 * Keeps apart the processes that start or run a plugin and the one that uninstalls it: a start that goes on would make tables,
 * cron events and options again after they were deleted.
 */
export interface PluginClaims {
  /** Held while the plugin starts and runs here. Waits for an uninstallation. Null: it took too long. */
  run(slug: string): Promise<Release | null>;
  /** Waits until no other process starts or runs the plugin. @throws Error that says how many still do, and what to do. */
  uninstall(slug: string): Promise<Release>;
}

/** For a loader without other processes. */
export const noClaims: PluginClaims = {
  run: async () => async () => {},
  uninstall: async () => async () => {},
};

export interface PluginClaimsDependencies extends Pick<Database, 'hold' | 'countHolders'> {
  /** Of real time: other processes are waited for. */
  readonly clock: Clock;
  /** Milliseconds to wait for other processes. Default 15,000. */
  readonly limit?: number;
}

/** Milliseconds between two looks. The end of a process is no event. */
const pause = 50;

export function createPluginClaims({
  hold,
  countHolders,
  clock,
  limit = 15_000,
}: PluginClaimsDependencies): PluginClaims {
  const nameOf = (slug: string): string => `plugin-${slug}`;
  const wait = async (slug: string, mode: HoldMode): Promise<Release | null> => {
    for (const end = clock.now() + limit; ; await clock.sleep(pause)) {
      const release = await hold(nameOf(slug), mode);
      if (release !== null || clock.now() >= end) return release;
    }
  };
  return {
    run: (slug) => wait(slug, 'shared'),
    async uninstall(slug) {
      const release = await wait(slug, 'alone');
      if (release !== null) return release;
      const others = await countHolders(nameOf(slug));
      const where = others === null || others === 1 ? 'another process' : `${others} other processes`;
      throw new Error(
        `The plugin '${slug}' still runs in ${where} of the site, which would write its data again, so nothing was deleted. ` +
          'Wait until each has followed the deactivation, or stop it, then uninstall again.',
      );
    },
  };
}
