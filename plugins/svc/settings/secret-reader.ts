import type { Logger, SecretsApi } from '#plugin-api';

/** Returns the plain text, or null if it cannot be decrypted: with another key, or saved for another context. */
export type SecretReader = (encrypted: string, context: string) => string | null;

/** Whether a stored secret is of an earlier version, which bound it to no context. */
export function isUnbound(encrypted: unknown): encrypted is string {
  return typeof encrypted === 'string' && encrypted.startsWith('enc:v1:');
}

const maxCached = 200;

/**
 * Decrypts each stored text once, because every request needs the same few secrets. A changed secret is another encrypted
 * text, so the cache needs no invalidation.
 */
export function createSecretReader({
  secrets,
  log,
}: {
  readonly secrets: SecretsApi;
  readonly log: Logger;
}): SecretReader {
  const known = new Map<string, string | null>();
  return (encrypted, context) => {
    const key = `${context}\n${encrypted}`;
    const plain = known.get(key);
    if (plain !== undefined) return plain;
    if (known.size >= maxCached) known.clear();
    const read = decrypt({ encrypted, context }, { secrets, log });
    known.set(key, read);
    return read;
  };
}

function decrypt(
  { encrypted, context }: { readonly encrypted: string; readonly context: string },
  { secrets, log }: { readonly secrets: SecretsApi; readonly log: Logger },
): string | null {
  try {
    return secrets.decrypt(encrypted, context);
  } catch (error) {
    log.warn('A saved secret cannot be decrypted. Save it again under AI service', {
      event: 'secret_unreadable',
      setting: context,
      error: error instanceof Error ? error.message : String(error),
    });
    return null;
  }
}

/** The visible part of a secret (D3): its last four characters if it is long enough. */
export function maskSecret(secret: string): string {
  return secret.length >= 12 ? `ends in ${secret.slice(-4)}` : 'saved';
}
