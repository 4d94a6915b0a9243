import type { SecretsApi, SecretStore, Undo } from '#plugin-api';

/** The places where the host and its plugins store secrets. */
export interface SecretStores {
  add(store: SecretStore): Undo;
  all(): readonly SecretStore[];
  /**
   * Labels of the stored secrets that this process cannot read, because another key encrypted them or they are damaged.
   * Rejects if the stored secrets cannot be listed.
   */
  unreadable(): Promise<readonly string[]>;
}

/** @param canDecrypt whether `decrypt` succeeds. */
export function createSecretStores(canDecrypt: (...given: Parameters<SecretsApi['decrypt']>) => boolean): SecretStores {
  const stores = new Set<SecretStore>();
  return {
    add(store) {
      stores.add(store);
      return () => void stores.delete(store);
    },
    all: () => [...stores],
    async unreadable() {
      const labels = new Set<string>();
      for (const store of stores)
        await store.rewrite(({ label, encrypted, context, isReported = true }) => {
          if (isReported && !canDecrypt(encrypted, context)) labels.add(label);
          return encrypted;
        });
      return [...labels];
    },
  };
}

/** A sentence with the labels and the remedy; null if all secrets can be read. */
export function describeUnreadable(labels: readonly string[]): string | null {
  if (labels.length === 0) return null;
  const what = labels.length === 1 ? '1 saved secret' : `${labels.length} saved secrets`;
  return (
    `${what} cannot be read: ${labels.join('; ')}. Restore the previous SECRET_KEY or secret.key in DATA_DIR, ` +
    `or enter ${labels.length === 1 ? 'it' : 'them'} again.`
  );
}
