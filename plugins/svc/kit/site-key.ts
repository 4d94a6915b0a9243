import type { HostApi, SecretStore } from '#plugin-api';

export interface SiteKeyInit {
  /** Option that stores the key, encrypted (D3). Shared by all nodes; deleting it generates another key. */
  readonly option: string;
  /** Name of the key for log and errors, such as `key of the chat widget`. */
  readonly label: string;
  /** Event code of the log line about a key that cannot be decrypted. */
  readonly event: string;
  readonly generate: () => string;
}

/**
 * Reads a key of the site, which is generated at first use. If several nodes generate one, only one is stored. While it cannot
 * be decrypted, a substitute in the option `<option>_substitute` is used; the key itself is not replaced.
 *
 * @throws Error if the substitute that another node stored cannot be decrypted here.
 */
export function createSiteKey(
  host: Pick<HostApi, 'options' | 'secrets' | 'log'>,
  { option, label, event, generate }: SiteKeyInit,
): () => Promise<string> {
  const known = new Map<string, { readonly stored: string; readonly key: string }>();
  let isReported = false;

  function decrypt(name: string, stored: string): string | null {
    const cached = known.get(name);
    if (cached?.stored === stored) return cached.key;
    try {
      const key = host.secrets.decrypt(stored, name);
      known.set(name, { stored, key });
      return key;
    } catch {
      return null;
    }
  }

  async function store(name: string, unusable: string | undefined): Promise<string> {
    const generated = host.secrets.encrypt(generate(), name);
    const isFirst =
      unusable === undefined
        ? await host.options.add(name, generated)
        : await host.options.compareAndSet(name, unusable, generated);
    const key = decrypt(name, isFirst ? generated : await host.options.get<string>(name));
    if (key === null) throw new Error(`The ${label} cannot be decrypted. Start all nodes with the same SECRET_KEY.`);
    return key;
  }

  return async () => {
    const stored = await host.options.get<string | false>(option, false);
    if (typeof stored !== 'string') return store(option, undefined);
    const key = decrypt(option, stored);
    if (key !== null) return key;
    if (!isReported)
      host.log.error(`Failed to decrypt the ${label}; a substitute is used until SECRET_KEY is restored`, { event });
    isReported = true;
    const name = `${option}_substitute`;
    const substitute = await host.options.get<string | false>(name, false);
    if (typeof substitute !== 'string') return store(name, undefined);
    return decrypt(name, substitute) ?? store(name, substitute);
  };
}

/** The stored key and its substitute, for the host. */
export function siteKeyStore(
  { options }: Pick<HostApi, 'options'>,
  { option, label }: Pick<SiteKeyInit, 'option' | 'label'>,
): SecretStore {
  return {
    async rewrite(change) {
      for (const name of [option, `${option}_substitute`]) {
        const encrypted = await options.get<string | false>(name, false);
        if (typeof encrypted !== 'string') continue;
        const changed = change({
          label: `The ${label} (to use another one for good, delete the option ${option})`,
          encrypted,
          context: name,
          isReported: name === option,
        });
        if (changed !== encrypted && !(await options.compareAndSet(name, encrypted, changed)))
          throw new Error(`The ${label} was changed in the meantime.`);
      }
    },
  };
}
