import type { HostApi } from '#plugin-api';

export interface SiteKeyInit {
  /** Option that stores the key, encrypted (D3). Shared by all nodes; deleting it generates another key. */
  readonly option: string;
  /** Name of the key for log and errors, such as `key of the chat widget`. */
  readonly label: string;
  /** Event code of the log line about a replaced key. */
  readonly event: string;
  readonly generate: () => string;
}

/**
 * Reads a key of the site, which is generated at first use. If several nodes generate one, only one is stored. A key that
 * cannot be decrypted is replaced.
 *
 * @throws Error if the key that another node stored cannot be decrypted here.
 */
export function createSiteKey(
  host: Pick<HostApi, 'options' | 'secrets' | 'log'>,
  { option, label, event, generate }: SiteKeyInit,
): () => Promise<string> {
  let known: { readonly stored: string; readonly key: string } | null = null;

  async function store(unusable: string | undefined): Promise<string> {
    const generated = host.secrets.encrypt(generate(), option);
    const isFirst =
      unusable === undefined
        ? await host.options.add(option, generated)
        : await host.options.compareAndSet(option, unusable, generated);
    const stored = isFirst ? generated : await host.options.get<string>(option);
    const key = decrypt(stored);
    if (key === null) throw new Error(`The ${label} cannot be decrypted. Start all nodes with the same SECRET_KEY.`);
    known = { stored, key };
    return key;
  }

  function decrypt(stored: string): string | null {
    try {
      return host.secrets.decrypt(stored, option);
    } catch {
      host.log.warn(`Replaced the ${label}, which was encrypted with another SECRET_KEY`, { event });
      return null;
    }
  }

  return async () => {
    const stored = await host.options.get<string | false>(option, false);
    if (typeof stored !== 'string') return store(undefined);
    if (known?.stored === stored) return known.key;
    const key = decrypt(stored);
    if (key === null) return store(stored);
    known = { stored, key };
    return key;
  };
}
