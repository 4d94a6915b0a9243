import { createHmac, randomBytes } from 'node:crypto';
import { isSameSecret, type HostApi } from '#plugin-api';
import { createSiteKey } from '../site-key.ts';

/** Option: the encrypted key that signs tokens and ids of visitors (D3), shared by all nodes. Deleting it ends all sessions. */
export const widgetKeyOption = 'svc_widget_key';

export interface Signer {
  /** HMAC-SHA256 over purpose and parts. Different lists of parts never have the same signature. */
  sign(purpose: string, parts: readonly (string | number)[]): Promise<Buffer>;
  /** Compares in constant time. `mac` may be truncated to at least 8 bytes. */
  isSigned(mac: Buffer, purpose: string, parts: readonly (string | number)[]): Promise<boolean>;
}

/** Signs with a key of the site. */
export function createSigner({ host }: { readonly host: Pick<HostApi, 'options' | 'secrets' | 'log'> }): Signer {
  const readKey = createSiteKey(host, {
    option: widgetKeyOption,
    label: 'key of the chat widget',
    event: 'widget_key_unreadable',
    generate: () => randomBytes(32).toString('base64'),
  });

  const sign: Signer['sign'] = async (purpose, parts) =>
    createHmac('sha256', Buffer.from(await readKey(), 'base64'))
      .update(JSON.stringify([purpose, ...parts]))
      .digest();
  return {
    sign,
    async isSigned(mac, purpose, parts) {
      if (mac.length < 8) return false;
      return isSameSecret((await sign(purpose, parts)).subarray(0, mac.length), mac);
    },
  };
}
