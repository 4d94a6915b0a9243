import { errorText, type Clock, type Logger } from '#plugin-api';
import { retryDelays, type FailedStarts } from './failed-starts.ts';
import type { PluginSource } from './manifest.ts';
import { StageError } from './stages.ts';
import type { StoredFailures } from './stored-state.ts';
import { UpgradeError } from './upgrade.ts';

/** The stages of a start. A failure in one of them has passed when a start succeeds. */
export const startStages: readonly string[] = ['import', 'migrate', 'backup', 'register', 'upgrade', 'activate'];

/** The stages of a failure after which a process does not run the plugin until it is started again. */
export const stopStages: readonly string[] = [...startStages, 'crash'];

/**
 * Leaves out a plugin that could not be started by this process, and stores the reason for people. The plugin stays in
 * `active_plugins`: other processes run it on. An outage of the database is not counted against the plugin. Returns the error for
 * the caller that requested the plugin.
 */
export type Quarantine = (source: PluginSource, error: unknown) => Promise<Error>;

export function createQuarantine({
  failures,
  failedStarts,
  isUnavailable,
  clock,
  log,
}: {
  failures: StoredFailures;
  failedStarts: FailedStarts;
  isUnavailable: (error: unknown) => boolean;
  clock: Clock;
  log: Logger;
}): Quarantine {
  return async (source, error) => {
    const { slug } = source.manifest;
    const isStaged = error instanceof StageError || error instanceof UpgradeError;
    const stage = isStaged ? error.stage : 'import';
    const message = describeError(error, source);
    const fields = { plugin: slug, stage, error: isStaged ? error.cause : error };
    if (isUnavailable(error)) {
      log.warn('Plugin not started yet: the database is unavailable', { event: 'plugin_start_postponed', ...fields });
      failedStarts.add(source, { stage: 'database', message }, retryDelays.database);
      return new Error(
        `The plugin '${slug}' could not be started, because the database did not do its part: ${message} Try again.`,
        { cause: error },
      );
    }
    log.error('Plugin disabled after an error', { event: 'plugin_quarantined', ...fields });
    failedStarts.add(source, { stage, message }, source.shipped ? retryDelays.shipped : null);
    await failures.set(slug, { stage, message, at: clock.now() }).catch((reason: unknown) => {
      log.error('Failed to store a plugin failure', {
        event: 'plugin_failure_not_stored',
        plugin: slug,
        error: reason,
      });
    });
    return new Error(`The plugin '${slug}' was disabled after an error in '${stage}': ${message}`, { cause: error });
  };
}

/** The error message without the local path of the plugin. */
export function describeError(error: unknown, source: PluginSource): string {
  const message = errorText(error);
  return message.replaceAll(source.directory, source.manifest.slug);
}

/** Sentences about what running plugins registered that is open, unreachable or without effect. Per process. */
export interface PluginWarnings {
  /** Logs a sentence and lists it with the plugin, once. */
  add(slug: string, message: string): void;
  clear(slug: string): void;
  of(slug: string): readonly string[];
}

/** Sentences per plugin: a plugin may register a thousand routes. */
const maxWarnings = 50;

/** @param isKnown whether the log of the site has them already: a command starts the same plugins. */
export function createWarnings(log: Logger, isKnown: () => boolean): PluginWarnings {
  const bySlug = new Map<string, Set<string>>();
  return {
    add(slug, message) {
      const known = bySlug.get(slug) ?? new Set();
      if (known.has(message) || known.size >= maxWarnings) return;
      bySlug.set(slug, known.add(message));
      if (!isKnown()) log.warn('Plugin needs attention', { event: 'plugin_warning', plugin: slug, reason: message });
    },
    clear: (slug) => void bySlug.delete(slug),
    of: (slug) => [...(bySlug.get(slug) ?? [])],
  };
}
