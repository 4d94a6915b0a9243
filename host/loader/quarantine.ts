import { errorText, type Clock, type Logger } from '#plugin-api';
import type { PluginSource } from './manifest.ts';
import { StageError } from './stages.ts';
import type { StoredFailures, StoredSlugs } from './stored-state.ts';
import { UpgradeError } from './upgrade.ts';

/**
 * Disables a plugin that failed and stores the reason, so that the site starts without it. Returns the error for the caller
 * that requested the plugin.
 */
export type Quarantine = (source: PluginSource, error: unknown) => Promise<Error>;

export function createQuarantine({
  active,
  failures,
  clock,
  log,
}: {
  active: StoredSlugs;
  failures: StoredFailures;
  clock: Clock;
  log: Logger;
}): Quarantine {
  return async (source, error) => {
    const { slug } = source.manifest;
    const isStaged = error instanceof StageError || error instanceof UpgradeError;
    const stage = isStaged ? error.stage : 'import';
    const message = describeError(error, source);
    log.error('Plugin disabled after an error', {
      event: 'plugin_quarantined',
      plugin: slug,
      stage,
      error: isStaged ? error.cause : error,
    });
    await failures.set(slug, { stage, message, at: clock.now() });
    await active.remove(slug);
    return new Error(`The plugin '${slug}' was disabled after an error in '${stage}': ${message}`);
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

export function createWarnings(log: Logger): PluginWarnings {
  const bySlug = new Map<string, Set<string>>();
  return {
    add(slug, message) {
      const known = bySlug.get(slug) ?? new Set();
      if (known.has(message) || known.size >= maxWarnings) return;
      bySlug.set(slug, known.add(message));
      log.warn('Plugin needs attention', { event: 'plugin_warning', plugin: slug, reason: message });
    },
    clear: (slug) => void bySlug.delete(slug),
    of: (slug) => [...(bySlug.get(slug) ?? [])],
  };
}
