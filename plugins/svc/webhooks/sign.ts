import { createHmac } from 'node:crypto';

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
