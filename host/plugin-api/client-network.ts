import { isIP, isIPv4 } from 'node:net';

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
