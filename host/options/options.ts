import type { Clock, Logger, OptionsApi, SecretsApi, SecretStore, Undo, StoredSecret } from '#plugin-api';
import type { Database } from '../database/database.ts';
import { createCachedOptions, type CachedOptions } from './cached-options.ts';
import { createSettingSecrets, type SettingSecrets } from './setting-secrets.ts';
import { type RegisteredSetting, createSettings, type Settings } from './settings.ts';
import { createStoredOptions, type OptionHooks } from './stored-options.ts';
import { createTransients } from './transients.ts';
import { decodeValue, encodeValue } from './option-values.ts';

export { migrations } from './migrations.ts';
export type { RegisteredSetting } from './settings.ts';

export interface OptionsDependencies {
  readonly database: Database;
  readonly hooks: OptionHooks;
  readonly clock: Clock;
  readonly log: Logger;
  /** Encrypts settings that are secrets. Without it, writing one fails. */
  readonly secrets?: Pick<SecretsApi, 'encrypt' | 'decrypt'>;
}

const noSecrets: Pick<SecretsApi, 'encrypt' | 'decrypt'> = {
  encrypt() {
    throw new Error('Secrets cannot be stored without the key of the site.');
  },
  decrypt() {
    throw new Error('Secrets cannot be read without the key of the site.');
  },
};

/** Interval for removing expired transients, in milliseconds. */
const sweepInterval = 3_600_000;

export interface Options extends OptionsApi {
  /**
   * Loads all autoloaded options in one query and follows other processes' changes. Without it, `get` queries each option once
   * and may return outdated values.
   */
  load(): Promise<void>;
  stop(): void;
  /** Makes the next read of an option query the database. */
  refresh(name: string): void;
  /** Whether a notification of the channel `options` was sent by this process. */
  isOwnChange(payload: string): boolean;
  /** The settings registered in this process, in order of registration. */
  settings(): RegisteredSetting[];
  /** Calls the listener when settings are registered or unregistered. */
  onSettingsChange(listener: () => void): Undo;
  /** The secrets among the registered settings. */
  readonly secretStore: SecretStore;
  /** Removes expired transients and returns their number. Runs automatically every hour after `load`. */
  deleteExpiredTransients(): Promise<number>;
}

/**
 * The site's options. Writes of this process are visible at once, those of others within a second: each write notifies the
 * other processes in its own transaction, and they reload that option. A write inside `database.transaction` is part of
 * it: others see it after the commit.
 */
export function createOptions({ database, hooks, clock, log, secrets = noSecrets }: OptionsDependencies): Options {
  const cached = createCachedOptions({ database, log });
  const settings = createSettings(hooks);
  const settingSecrets = createSettingSecrets(settings.schemaOf, secrets);
  const options = createStoredOptions({ cached, settings, secrets: settingSecrets, hooks });
  const { deleteExpired, ...transients } = createTransients({ options, cached, database, hooks, clock });
  let undoSweep: Undo | null = null;

  return {
    ...options,
    ...transients,
    registerSetting: (name, definition) => settings.register(name, definition),
    refresh: cached.refresh,
    isOwnChange: cached.isOwnChange,
    settings: () => settings.list(),
    secretStore: { rewrite: (change) => rewriteSettingSecrets({ cached, settings, secrets: settingSecrets }, change) },
    onSettingsChange: (listener) => settings.onChange(listener),
    deleteExpiredTransients: deleteExpired,
    async load() {
      await cached.load();
      undoSweep ??= clock.every(sweepInterval, () => {
        deleteExpired().catch((error: unknown) => {
          log.warn('Failed to remove expired transients; retrying in an hour', {
            event: 'transients_sweep_failed',
            error,
          });
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

interface RewriteDependencies {
  readonly cached: Pick<CachedOptions, 'read' | 'refresh' | 'swap'>;
  readonly settings: Pick<Settings, 'list'>;
  readonly secrets: Pick<SettingSecrets, 'rewrite'>;
}

/**
 * Rewrites the encrypted secrets of all registered settings, each setting in one statement.
 *
 * @throws Error if another process changed one in the meantime.
 */
async function rewriteSettingSecrets(
  { cached, settings, secrets }: RewriteDependencies,
  change: (secret: StoredSecret) => string,
): Promise<void> {
  for (const setting of settings.list()) {
    const { name } = setting;
    const stored = await cached.read(name);
    if (stored === null) continue;
    const text = encodeValue(name, secrets.rewrite(setting, decodeValue(stored.text), change));
    if (text === stored.text || (await cached.swap(name, stored.text, text))) continue;
    cached.refresh(name);
    throw new Error(`The setting ${name} was changed in the meantime.`);
  }
}
