import ipaddr from 'ipaddr.js';

/** Addresses at which cloud providers serve credentials to local callers. Those in 169.254.0.0/16 are also link-local. */
const metadataAddresses = new Set(
  [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
  ].map((address) => ipaddr.process(address).toNormalizedString()),
);

/** Ranges an administrator may allow. Other non-public ranges are never allowed: link-local, multicast, reserved, tunnels. */
const internalRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/**
 * Why connecting to an address is refused, or null if it is allowed (D23).
 *
 * @param address IPv4 or IPv6 text from a resolver or a socket. An IPv4-mapped address counts as its IPv4 address.
 * @param internal whether private networks are allowed; metadata addresses never are.
 */
export function refusalReason(address: string, internal: boolean): string | null {
  const [bare = ''] = address.split('%');
  if (!ipaddr.isValid(bare)) return 'is not an address';
  const parsed = ipaddr.process(bare);
  if (metadataAddresses.has(parsed.toNormalizedString())) return 'is a cloud metadata service, which is never called';
  const range = parsed.range();
  // NAT64: check the embedded IPv4 address.
  if (range === 'rfc6052') return refusalReason(parsed.toByteArray().slice(-4).join('.'), internal);
  if (range === 'unicast' && isGlobal(parsed)) return null;
  if (internalRanges.has(range)) return internal ? null : `is not a public address (${range})`;
  return `is not a public address (${range === 'unicast' ? 'reserved' : range})`;
}

/** Only 2000::/3 is global IPv6; the rest of unicast (site-local, IPv4-compatible) is internal. */
function isGlobal(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === 'ipv4' || ((address.toByteArray()[0] ?? 0) & 0xe0) === 0x20;
}

/** The literal IP address in a URL's host, without brackets, or null for a name. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : null;
}
