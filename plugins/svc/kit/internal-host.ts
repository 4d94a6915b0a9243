import { isUrl } from '#plugin-api';

/**
 * Returns `host:port` of a URL whose host is an IP address or `localhost`, otherwise null. An administrator entered it, so the
 * outbound guard allows exactly this address (D23). Host names never count, whatever they resolve to.
 *
 * The guard decides whether an address is private, and always blocks metadata addresses.
 */
export function typedInternalHost(url: string): string | null {
  if (!isUrl(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  const literal = hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname) || hostname === 'localhost';
  if (!literal) return null;
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
