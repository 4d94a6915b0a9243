import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HostApi } from '#plugin-api';

/** Option: the encrypted key that signs tokens and ids of visitors (D3), shared by all nodes. Deleting it ends all sessions. */
export const widgetKeyOption = 'svc_widget_key';

export interface Signer {
  /** HMAC-SHA256 over purpose and parts. Different lists of parts never have the same signature. */
  sign(purpose: string, parts: readonly (string | number)[]): Promise<Buffer>;
  /** Compares in constant time. `mac` may be truncated to at least 8 bytes. */
  isSigned(mac: Buffer, purpose: string, parts: readonly (string | number)[]): Promise<boolean>;
}

/** Signs with the key of the site, which is generated at first use. If several nodes generate one, only one is stored. */
export function createSigner({ host }: { readonly host: Pick<HostApi, 'options' | 'secrets' | 'log'> }): Signer {
  let known: { readonly stored: string; readonly key: Buffer } | null = null;

  async function key(): Promise<Buffer> {
    const stored = await host.options.get<string | false>(widgetKeyOption, false);
    if (typeof stored !== 'string') return generate(undefined);
    if (known?.stored === stored) return known.key;
    const decrypted = decrypt(stored);
    if (decrypted === null) return generate(stored);
    known = { stored, key: decrypted };
    return decrypted;
  }

  async function generate(unusable: string | undefined): Promise<Buffer> {
    const generated = host.secrets.encrypt(randomBytes(32).toString('base64'), widgetKeyOption);
    const isFirst =
      unusable === undefined
        ? await host.options.add(widgetKeyOption, generated)
        : await host.options.compareAndSet(widgetKeyOption, unusable, generated);
    const stored = isFirst ? generated : await host.options.get<string>(widgetKeyOption);
    const decrypted = decrypt(stored);
    if (decrypted === null)
      throw new Error('The key of the chat widget cannot be decrypted. Start all nodes with the same SECRET_KEY.');
    known = { stored, key: decrypted };
    return decrypted;
  }

  function decrypt(stored: string): Buffer | null {
    try {
      return Buffer.from(host.secrets.decrypt(stored, widgetKeyOption), 'base64');
    } catch {
      host.log.warn('Replaced the key of the chat widget, which was encrypted with another SECRET_KEY', {
        event: 'widget_key_replaced',
      });
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
