/**
 * Encrypts secrets at rest with AES-256-GCM under `SECRET_KEY`, or under the key file in the data folder (D3).
 * Every node of a site must have the same key.
 */
export interface SecretsApi {
  /** Answers `enc:v1:...`, different at each call. The plain text is from then on cut out of every log line. */
  encrypt(plain: string): string;
  /** The plain text; throws an Error that names the remedy when the text was encrypted under another key. */
  decrypt(encrypted: string): string;
}
