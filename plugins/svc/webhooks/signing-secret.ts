import { invalidFields } from '#plugin-api';
import type { SecretReader } from '../settings/secret-reader.ts';
import { secretContexts, type StoredEndpoint, type StoredSettings } from './settings-store.ts';
import { createHmac } from 'node:crypto';

/** Most characters of a secret (D54). */
const longest = 1_000;
/** Least bytes that Standard Webhooks asks for. */
const leastBytes = 24;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Why a secret cannot be saved, as a sentence; null if it can. Contract 6.6 takes any text. */
export function secretError(secret: string): string | null {
  return secret.length > longest ? 'The secret may have at most 1,000 characters.' : null;
}

/** Receivers of Standard Webhooks decode what follows `whsec_`. */
function canDecode(secret: string): boolean {
  if (!secret.startsWith('whsec_')) return true;
  const encoded = secret.slice('whsec_'.length);
  return base64.test(encoded) && Buffer.from(encoded, 'base64').length >= leastBytes;
}

/**
 * Returns the settings.
 *
 * @throws RestError 400 if one of the endpoints would sign as Standard Webhooks with a secret that its receivers cannot decode
 */
export function checkStandardSecrets(
  settings: StoredSettings,
  endpoints: readonly StoredEndpoint[],
  read: SecretReader,
): StoredSettings {
  for (const endpoint of endpoints) {
    if (!endpoint.standardWebhooks) continue;
    const [encrypted, context] =
      endpoint.secret === ''
        ? [settings.secret, secretContexts.common]
        : [endpoint.secret, secretContexts.endpoint(endpoint)];
    const secret = encrypted === '' ? null : read(encrypted, context);
    if (secret !== null && !canDecode(secret))
      throw invalidFields({
        secret:
          'With Standard Webhooks, “whsec_” needs at least 24 bytes in Base64 behind it. Generate a secret, or leave “whsec_” out.',
      });
  }
  return settings;
}

/** Value of `X-SVC-Signature`: HMAC-SHA256 of timestamp, period and the bytes that are sent, by the secret as written (contract 6.6). */
export function sign(secret: string, timestamp: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

/** Value of `webhook-signature`: one signature per valid secret, whose key is the base64 after `whsec_`. */
export function signStandard(
  secrets: readonly string[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: Uint8Array },
): string {
  return secrets
    .map((secret) => {
      const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
