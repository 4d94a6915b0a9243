import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

interface Keys {
  readonly ours: KeyObject;
  readonly standard: KeyObject;
}

const known = new Map<string, Keys>();

/** Contract 6.6 keys with the secret as it is written; Standard Webhooks with the bytes behind `whsec_`. */
function keysOf(secret: string): Keys {
  const found = known.get(secret);
  if (found) return found;
  if (known.size > 100) known.clear();
  const bytes = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  const keys = { ours: createSecretKey(Buffer.from(secret)), standard: createSecretKey(bytes) };
  known.set(secret, keys);
  return keys;
}

/** Value of `X-SVC-Signature`: HMAC-SHA256 of timestamp, period and the bytes that are sent (contract 6.6). */
export function sign(secret: string, timestamp: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', keysOf(secret).ours).update(`${timestamp}.`).update(body).digest('hex')}`;
}

/** Value of `webhook-signature`: one signature for each secret that is valid. */
export function signStandard(secrets: readonly string[], { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: Uint8Array }): string {
  return secrets.map((secret) => `v1,${createHmac('sha256', keysOf(secret).standard).update(`${id}.${timestamp}.`).update(body).digest('base64')}`).join(' ');
}
