import type { Logger, SecretsApi } from '#plugin-api';

/** Answers the plain text, or null when it cannot be decrypted. */
export type SecretReader = (encrypted: string) => string | null;

const remembered = 200;

/**
 * Decrypts each stored text once: requests ask for the same few secrets over and over. A changed secret is another
 * encrypted text, so there is nothing to invalidate.
 */
export function createSecretReader({
  secrets,
  log,
}: {
  readonly secrets: SecretsApi;
  readonly log: Logger;
}): SecretReader {
  const known = new Map<string, string | null>();
  return (encrypted) => {
    const plain = known.get(encrypted);
    if (plain !== undefined) return plain;
    if (known.size >= remembered) known.clear();
    const read = decrypt(encrypted, { secrets, log });
    known.set(encrypted, read);
    return read;
  };
}

function decrypt(
  encrypted: string,
  { secrets, log }: { readonly secrets: SecretsApi; readonly log: Logger },
): string | null {
  try {
    return secrets.decrypt(encrypted);
  } catch (error) {
    log.warn('A saved secret cannot be read; save it again under AI service.', {
      error: error instanceof Error ? error.message : String(error),
    });
    return null;
  }
}
