import type { Undo } from './undo.ts';

/** A secret where it is stored. */
export interface StoredSecret {
  /** What an administrator knows it as, for example `OpenAI: API key`. */
  readonly label: string;
  readonly encrypted: string;
  /** The context it was encrypted with. */
  readonly context?: string;
  /** Whether it is reported if it cannot be read. False: it is replaced at its next use, or cannot be entered. Default true. */
  readonly isReported?: boolean;
}

/** A place where a plugin stores encrypted secrets. */
export interface SecretStore {
  /**
   * Calls `change` with every stored secret and stores what it returns instead. Writes nothing if nothing changed. It may run
   * in a transaction, and on several nodes at once.
   *
   * @throws Error if a secret was changed by another process in the meantime: the caller may try again.
   */
  rewrite(change: (secret: StoredSecret) => string): Promise<void>;
}

/**
 * Encrypts secrets at rest with AES-256-GCM under `SECRET_KEY`, or under the key file in the data folder (D3).
 * Every node of a site must have the same key.
 */
export interface SecretsApi {
  /**
   * Returns `enc:v2:...`, different for each call. The plain text is redacted from all later log lines.
   *
   * @param context where the secret is stored and for what, such as the name of the option. The text can be decrypted with the
   *   same context only, so it is useless in another place (D35). Without a context the result is `enc:v1:...`, which can be
   *   moved.
   */
  encrypt(plain: string, context?: string): string;
  /**
   * Returns the plain text. `enc:v1:...` is decrypted with any context.
   *
   * @throws Error with a remedy if another key encrypted it, or if it was encrypted for another context.
   */
  decrypt(encrypted: string, context?: string): string;
  /**
   * Names a place where secrets are stored. The host then reports those that cannot be read (`doctor`, `/readyz`,
   * `db restore`, a badge in the admin) and encrypts them again under a new key (`secrets rotate`). A secret that is missing
   * from all stores is not reported, and cannot be read after a rotation unless it is in an option.
   */
  addStore(store: SecretStore): Undo;
}
