import type { Clock, HooksApi, Logger, OptionsApi, Undo } from '#plugin-api';
import type { Database } from '../database/database.ts';
import { createCachedOptions } from './cached-options.ts';
import { type RegisteredSetting, createSettings } from './settings.ts';
import { createStoredOptions } from './stored-options.ts';
import { createTransients } from './transients.ts';

export { migrations } from './migrations.ts';
export type { RegisteredSetting } from './settings.ts';

export interface OptionsDependencies {
  readonly database: Database;
  readonly hooks: HooksApi;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Expired transients are removed this often, in milliseconds; until then they only take room. */
const sweepInterval = 3_600_000;

export interface Options extends OptionsApi {
  /** Reads all autoloaded options in one query, and hears of other processes' changes from now on. Without it, `get` asks for each option once and may be out of date. */
  load(): Promise<void>;
  stop(): void;
  /** The settings registered in this process, in their order. */
  settings(): RegisteredSetting[];
  /** Tells of settings that are registered and taken back. */
  onSettingsChange(listener: () => void): Undo;
  /** Removes transients that have expired; answers how many. Runs by itself every hour after `load`. */
  deleteExpiredTransients(): Promise<number>;
}

/**
 * The site's options. Writes of this process are seen at once; those of others within a second: each write names the
 * option to the other processes in its own transaction, and they ask anew for that one. A write inside
 * `database.transaction` takes part in it: others see it at its commit.
 */
export function createOptions({ database, hooks, clock, log }: OptionsDependencies): Options {
  const cached = createCachedOptions({ database, log });
  const settings = createSettings(hooks);
  const options = createStoredOptions({ cached, settings, hooks });
  const { deleteExpired, ...transients } = createTransients({ options, cached, database, hooks, clock });
  let undoSweep: Undo | null = null;

  return {
    ...options,
    ...transients,
    registerSetting: (name, definition) => settings.register(name, definition),
    settings: () => settings.list(),
    onSettingsChange: (listener) => settings.onChange(listener),
    deleteExpiredTransients: deleteExpired,
    async load() {
      await cached.load();
      undoSweep ??= clock.every(sweepInterval, () => {
        deleteExpired().catch((error: unknown) => {
          log.warn('Expired transients could not be removed; trying again in an hour.', { error });
        });
      });
    },
    stop() {
      undoSweep?.();
      undoSweep = null;
      cached.stop();
    },
  };
}
