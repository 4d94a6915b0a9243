import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HostApi } from '#plugin-api';

/** Option: the key that tokens and ids of visitors are signed with, encrypted (D3). One for all nodes; gone, all sessions have ended. */
export const widgetKeyOption = 'svc_widget_key';

export interface Signer {
  /** HMAC-SHA256 over purpose and parts; no two lists of parts read alike. */
  sign(purpose: string, parts: readonly (string | number)[]): Promise<Buffer>;
  /** In constant time. `mac` may be cut to its first bytes, not below 8. */
  isSigned(mac: Buffer, purpose: string, parts: readonly (string | number)[]): Promise<boolean>;
}

/** Signs with the site's own key, made when it is first needed; of nodes that make one at once, one's counts. */
export function createSigner({ host }: { readonly host: Pick<HostApi, 'options' | 'secrets' | 'log'> }): Signer {
  let known: { readonly stored: string; readonly key: Buffer } | null = null;

  async function key(): Promise<Buffer> {
    const stored = await host.options.get<string | false>(widgetKeyOption, false);
    if (typeof stored !== 'string') return make(undefined);
    if (known?.stored === stored) return known.key;
    const decrypted = decrypt(stored);
    if (decrypted === null) return make(stored);
    known = { stored, key: decrypted };
    return decrypted;
  }

  async function make(unusable: string | undefined): Promise<Buffer> {
    const made = host.secrets.encrypt(randomBytes(32).toString('base64'));
    const isFirst =
      unusable === undefined
        ? await host.options.add(widgetKeyOption, made)
        : await host.options.compareAndSet(widgetKeyOption, unusable, made);
    const stored = isFirst ? made : await host.options.get<string>(widgetKeyOption);
    const decrypted = decrypt(stored);
    if (decrypted === null)
      throw new Error('The key of the chat widget cannot be decrypted. All nodes need the same SECRET_KEY.');
    known = { stored, key: decrypted };
    return decrypted;
  }

  function decrypt(stored: string): Buffer | null {
    try {
      return Buffer.from(host.secrets.decrypt(stored), 'base64');
    } catch {
      host.log.warn(
        'The key of the chat widget was encrypted under another SECRET_KEY. A new one is made: visitors begin new sessions.',
      );
      return null;
    }
  }

  const sign: Signer['sign'] = async (purpose, parts) =>
    createHmac('sha256', await key())
      .update(JSON.stringify([purpose, ...parts]))
      .digest();
  return {
    sign,
    async isSigned(mac, purpose, parts) {
      if (mac.length < 8) return false;
      const expected = (await sign(purpose, parts)).subarray(0, mac.length);
      return expected.length === mac.length && timingSafeEqual(expected, mac);
    },
  };
}
