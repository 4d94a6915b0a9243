import type { Clock } from '#plugin-api';
import type { PluginSource } from './manifest.ts';
import type { Blocked } from './status.ts';

/** When a failed start is tried again without being asked, in milliseconds. */
export const retryDelays = {
  /** An outage of the database passes. */
  database: 5_000,
  /** Without a plugin that ships with the host, the site is not what it should be. */
  shipped: 60_000,
} as const;

/**
 * Plugins that this process could not start. Nothing of it is stored, so other processes run them on, and each start tries them
 * once. Meanwhile they are left alone until they are activated, their version changes, or the time of the next try comes.
 */
export interface FailedStarts {
  /** @param retryIn milliseconds; null: not without being asked. */
  add(source: PluginSource, reason: Blocked, retryIn: number | null): void;
  forget(slug: string): void;
  /** Why the plugin is not tried now; null: try it. */
  reasonOf(source: PluginSource): Blocked | null;
  /** Milliseconds until the next try is due; null: none is. */
  nextRetryIn(): number | null;
}

export function createFailedStarts(clock: Pick<Clock, 'now'>): FailedStarts {
  const failed = new Map<string, { readonly version: string; readonly reason: Blocked; readonly retryAt: number }>();
  return {
    add: ({ manifest: { slug, version } }, reason, retryIn) =>
      void failed.set(slug, { version, reason, retryAt: retryIn === null ? Infinity : clock.now() + retryIn }),
    forget: (slug) => void failed.delete(slug),
    reasonOf({ manifest: { slug, version } }) {
      const known = failed.get(slug);
      return known?.version === version && clock.now() < known.retryAt ? known.reason : null;
    },
    nextRetryIn() {
      const next = Math.min(...[...failed.values()].map(({ retryAt }) => retryAt));
      return Number.isFinite(next) ? Math.max(0, next - clock.now()) : null;
    },
  };
}
