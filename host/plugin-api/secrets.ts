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
}
