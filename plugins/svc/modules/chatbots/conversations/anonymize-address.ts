import { isIP } from 'node:net';

/**
 * The address with its last part (IPv4), or its last 80 bits (IPv6), as zeros: what is stored where a bot anonymises
 * addresses. Whatever is no address becomes an empty text.
 */
export function anonymiseAddress(address: string): string {
  const plain = address.trim().replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  const version = isIP(mapped ?? plain);
  if (version === 4) return (mapped ?? plain).replace(/\d+$/, '0');
  if (version === 0) return '';
  const first = firstGroups(plain);
  // The shortest way to write it: `::` stands for all the zeros at the end.
  while (first.length > 0 && first.at(-1) === '0') first.pop();
  return `${first.join(':')}::`;
}

/** The first three of the eight groups. */
function firstGroups(address: string): string[] {
  const [before = '', after] = address.split('::');
  const groups = before === '' ? [] : before.split(':');
  // An address that ends in an IPv4 one has two groups less; they are never among the first three unless `::` is before them.
  const rest = after === undefined || after === '' ? [] : after.split(':');
  const restLength = rest.length + (after?.includes('.') ? 1 : 0);
  const all =
    after === undefined
      ? groups
      : [...groups, ...Array.from({ length: 8 - groups.length - restLength }, () => '0'), ...rest];
  return all.slice(0, 3).map((group) => (group.includes('.') ? '0' : Number.parseInt(group, 16).toString(16)));
}
