import { BlockList, isIP, isIPv4 } from 'node:net';

/** IPv4 written as IPv6 (`::ffff:192.0.2.1`) is IPv4; a zone (`%eth0`) does not count. Empty: it is no address. */
export function plainAddress(ip: string): string {
  const address = ip
    .trim()
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
  return isIP(address) === 0 ? '' : address;
}

/** Whose limits an address shares: IPv4 alone, IPv6 with its network of 64 bits, in which one household has any number of them. */
export function clientNetwork(ip: string): string {
  const address = plainAddress(ip);
  if (address === '' || isIPv4(address)) return address;
  // `URL` writes every address in one way.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const groups = [
    ...before,
    ...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0'),
    ...after,
  ];
  return groups.slice(0, 4).join(':');
}

/** Whether an address is one of the list, or in one of its ranges (`203.0.113.0/24`). Entries that are neither match nothing. */
export function isListed(ip: string, entries: readonly string[]): boolean {
  const address = plainAddress(ip);
  if (address === '' || entries.length === 0) return false;
  const list = new BlockList();
  for (const entry of entries) {
    const [base = '', bits] = entry.trim().split('/', 2);
    const network = plainAddress(base);
    if (network === '') continue;
    const family = isIPv4(network) ? 'ipv4' : 'ipv6';
    const length = bits === undefined ? null : Number(bits);
    if (length === null) list.addAddress(network, family);
    else if (Number.isInteger(length) && length >= 0 && length <= (family === 'ipv4' ? 32 : 128))
      list.addSubnet(network, length, family);
  }
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
