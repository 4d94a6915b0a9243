import { errorText, type Logger, type SecretsApi } from '#plugin-api';

/** Returns the plain text, or null if it cannot be decrypted: with another key, or saved for another context. */
export type SecretReader = (encrypted: string, context: string) => string | null;

/** Whether a stored secret is of an earlier version, which bound it to no context. */
export function isUnbound(encrypted: unknown): encrypted is string {
  return typeof encrypted === 'string' && encrypted.startsWith('enc:v1:');
}

const maxCached = 200;

/**
 * Decrypts each stored text once, because every request needs the same few secrets. A changed secret is another encrypted
 * text, so the cache needs no invalidation. What cannot be decrypted is logged once and tried again each time: the key file
 * may be restored while the process runs.
 */
export function createSecretReader({
  secrets,
  log,
}: {
  readonly secrets: Pick<SecretsApi, 'decrypt'>;
  readonly log: Logger;
}): SecretReader {
  const known = new Map<string, string>();
  const reported = new Set<string>();
  return (encrypted, context) => {
    const key = `${context}\n${encrypted}`;
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    try {
      const plain = secrets.decrypt(encrypted, context);
      if (known.size >= maxCached) known.clear();
      known.set(key, plain);
      reported.delete(key);
      return plain;
    } catch (error) {
      if (reported.has(key)) return null;
      if (reported.size >= maxCached) reported.clear();
      reported.add(key);
      log.warn('A saved secret cannot be decrypted. Restore the key, or enter the secret again', {
        event: 'secret_unreadable',
        setting: context,
        error: errorText(error),
      });
      return null;
    }
  };
}

/** Shown instead of the visible part of a secret that cannot be decrypted. */
export const unreadableText = 'cannot be read, set it again';

/** The visible part of a secret (D3): its last four characters if it is long enough. */
export function maskSecret(secret: string): string {
  return secret.length >= 12 ? `ends in ${secret.slice(-4)}` : 'saved';
}
