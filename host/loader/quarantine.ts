import type { Clock, Logger } from '#plugin-api';
import type { PluginSource } from './manifest.ts';
import { StageError } from './stages.ts';
import type { StoredFailures, StoredSlugs } from './stored-state.ts';
import { UpgradeError } from './upgrade.ts';

/**
 * Takes a plugin that failed out of the active ones and keeps the reason, so that the site starts without it from now
 * on. Answers the error to show to whoever asked for the plugin.
 */
export type Fence = (source: PluginSource, error: unknown) => Promise<Error>;

export function createFence({
  active,
  failures,
  clock,
  log,
}: {
  active: StoredSlugs;
  failures: StoredFailures;
  clock: Clock;
  log: Logger;
}): Fence {
  return async (source, error) => {
    const { slug } = source.manifest;
    const isStaged = error instanceof StageError || error instanceof UpgradeError;
    const stage = isStaged ? error.stage : 'import';
    const message = describeError(error, source);
    log.error(`The plugin '${slug}' failed in '${stage}' and was disabled; the site runs on without it.`, {
      plugin: slug,
      stage,
      error: isStaged ? error.cause : error,
    });
    await failures.set(slug, { stage, message, at: clock.now() });
    await active.remove(slug);
    return new Error(`The plugin '${slug}' failed in '${stage}' and was disabled: ${message}`);
  };
}

/** The message without the place of the plugin on this machine. */
export function describeError(error: unknown, source: PluginSource): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(source.directory, source.manifest.slug);
}
