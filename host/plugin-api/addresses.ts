import { isIP, isIPv4 } from 'node:net';
import { isRecord } from './values.ts';

/**
 * Whether the text is one email address of at most 254 characters. It has no display name, no spaces, no control characters
 * and nothing else that could end a header or begin a second address.
 */
export function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"'(),;:\\[\]\p{Cc}]+@[^\s@<>"'(),;:\\[\]\p{Cc}]+$/u.test(text);
}

/**
 * Whether `new URL(text, base)` succeeds. Replaces `URL.canParse`, which in Node 20 rejects text with letters such as `ü`
 * once the engine has optimized it.
 */
export function isUrl(text: string, base?: string | URL): boolean {
  try {
    return new URL(text, base) !== null;
  } catch {
    return false;
  }
}

/** Normalizes an IP address: IPv4 in IPv6 form (`::ffff:192.0.2.1`) becomes IPv4, a zone (`%eth0`) is removed. '' if invalid. */
export function plainAddress(ip: string): string {
  const [plain = ''] = ip.trim().split('%', 1);
  const address = plain.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
  return isIP(address) === 0 ? '' : address;
}

/** The network that shares a limit: an IPv4 address, or the first 64 bits of an IPv6 address, because one household has many. */
export function clientNetwork(ip: string): string {
  const address = plainAddress(ip);
  if (address === '' || isIPv4(address)) return address;
  // `URL` normalizes the address.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

/** Causes of causes to look at: they may form a circle. */
const mostCauses = 8;

/**
 * Why an outbound request failed, with the names and addresses of hosts, or null for any other error. The message of such an error
 * names neither, and is the same for an open port and a closed one: anyone may read it. Show the reason to administrators alone (D23).
 *
 * @param error of `host.http`, or one that it caused
 */
export function outboundReason(error: unknown): string | null {
  for (
    let current = error, depth = 0;
    isRecord(current) && depth < mostCauses;
    depth += 1, current = current['cause']
  ) {
    const { code, reason } = current;
    if (typeof code === 'string' && code.startsWith('outbound_') && typeof reason === 'string') return reason;
  }
  return null;
}
