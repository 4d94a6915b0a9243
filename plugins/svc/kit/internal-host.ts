import { isUrl } from '#plugin-api';
/**
 * `host:port` of an address that is itself a literal of a private network or `localhost`: typed by an administrator, it
 * may be reached, and nothing beside it (D23). Null for every other address; names never count, however they resolve.
 *
 * Whether a literal is private, and that metadata addresses stay shut, is the guard's to know; a public literal named
 * here opens nothing.
 */
export function typedInternalHost(url: string): string | null {
  if (!isUrl(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  const literal = hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname) || hostname === 'localhost';
  if (!literal) return null;
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}
