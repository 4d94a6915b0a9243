/**
 * Encrypts secrets at rest with AES-256-GCM under `SECRET_KEY`, or under the key file in the data folder (D3).
 * Every node of a site must have the same key.
 */
export interface SecretsApi {
  /** Returns `enc:v1:...`, different for each call. The plain text is redacted from all later log lines. */
  encrypt(plain: string): string;
  /** Returns the plain text. Throws an Error with a remedy if another key encrypted it. */
  decrypt(encrypted: string): string;
}
