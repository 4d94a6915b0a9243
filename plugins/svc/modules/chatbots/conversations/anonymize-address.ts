import { isIP } from 'node:net';

/**
 * Replaces the last part of an IPv4 address, or the last 80 bits of an IPv6 address, by zeros. Returns an empty text for
 * anything that is not an address.
 */
export function anonymizeAddress(address: string): string {
  const [plain = ''] = address.trim().split('%', 1);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  const version = isIP(mapped ?? plain);
  if (version === 4) return (mapped ?? plain).replace(/\.\d+$/, '.0');
  if (version === 0) return '';
  const first = firstGroups(plain);
  // `::` abbreviates the zeros at the end.
  while (first.length > 0 && first.at(-1) === '0') first.pop();
  return `${first.join(':')}::`;
}

/** The first three of the eight groups. */
function firstGroups(address: string): string[] {
  const [before = '', after] = address.split('::');
  const groups = before === '' ? [] : before.split(':');
  // An embedded IPv4 address counts as two groups. It is never among the first three unless `::` precedes it.
  const rest = after === undefined || after === '' ? [] : after.split(':');
  const restLength = rest.length + (after?.includes('.') ? 1 : 0);
  const all =
    after === undefined
      ? groups
      : [...groups, ...Array.from({ length: 8 - groups.length - restLength }, () => '0'), ...rest];
  return all.slice(0, 3).map((group) => (group.includes('.') ? '0' : Number.parseInt(group, 16).toString(16)));
}
