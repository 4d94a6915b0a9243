import type { StoredSecret } from '#plugin-api';
import type { CachedOptions } from './cached-options.ts';
import { decodeValue, encodeValue } from './option-values.ts';
import type { SettingSecrets } from './setting-secrets.ts';
import type { Settings } from './settings.ts';

export interface RewriteDependencies {
  readonly cached: Pick<CachedOptions, 'read' | 'refresh' | 'swap'>;
  readonly settings: Pick<Settings, 'list'>;
  readonly secrets: Pick<SettingSecrets, 'rewrite'>;
}

/**
 * Rewrites the encrypted secrets of all registered settings, each setting in one statement.
 *
 * @throws Error if another process changed one in the meantime.
 */
export async function rewriteSettingSecrets(
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
