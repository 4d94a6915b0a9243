import { isIP } from 'node:net';

/** The identity of the site towards authenticators. A passkey works only for the `id` it was created for. */
export interface RelyingParty {
  /** Host name, such as `example.com`. */
  readonly id: string;
  readonly origin: string;
}

/** Passkeys are offered, or the reason why not. */
export type PasskeySupport =
  { readonly party: RelyingParty; readonly reason: null } | { readonly party: null; readonly reason: string };

/**
 * Whether browsers allow passkeys at the site's address: https with a host name, or http on localhost.
 *
 * A loopback address such as `http://127.0.0.1:3000` counts as `http://localhost:3000`, because browsers allow passkeys
 * for names only and both lead to the same site.
 */
export function passkeySupport(siteUrl: string): PasskeySupport {
  const url = new URL(siteUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol === 'http:' && (host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host))) url.hostname = 'localhost';
  else if (isIP(host) !== 0)
    return unsupported(
      'Passkeys need a host name, but the address of this site is an IP address. Set SITE_URL to a name.',
    );
  const isLocal = url.hostname === 'localhost' || url.hostname.endsWith('.localhost');
  if (url.protocol !== 'https:' && !isLocal)
    return unsupported(
      'Passkeys need https, but the address of this site starts with http. Set SITE_URL to its https address.',
    );
  return { party: { id: url.hostname, origin: url.origin }, reason: null };
}

function unsupported(reason: string): PasskeySupport {
  return { party: null, reason };
}
