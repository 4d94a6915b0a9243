import { BlockList, isIP, isIPv4 } from 'node:net';

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
  const groups = [
    ...before,
    ...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0'),
    ...after,
  ];
  return groups.slice(0, 4).join(':');
}

/** Whether a list contains an address, or a range with it (`203.0.113.0/24`). Invalid entries match nothing. */
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
