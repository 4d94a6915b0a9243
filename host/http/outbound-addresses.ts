import ipaddr from 'ipaddr.js';

/** Addresses on which clouds hand out credentials to whoever asks from inside. Those of 169.254.0.0/16 are link-local besides. */
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

/** Ranges an administrator may open. All others but the public one are never an endpoint: link-local, multicast, reserved, tunnels. */
const internalRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/**
 * Why an address must not be connected to, or null when it may (D23).
 *
 * @param address IPv4 or IPv6 text, as a resolver or a socket gives it; an IPv4 address inside IPv6 counts as that IPv4 address.
 * @param internal whether private networks are open for this request; metadata addresses never are.
 */
export function refusalOf(address: string, internal: boolean): string | null {
  const [bare = ''] = address.split('%');
  if (!ipaddr.isValid(bare)) return 'is not an address';
  const parsed = ipaddr.process(bare);
  if (metadataAddresses.has(parsed.toNormalizedString()))
    return 'is a metadata service of a cloud, which is never called';
  const range = parsed.range();
  // NAT64, the way out of networks without IPv4: what counts is the IPv4 address it stands for.
  if (range === 'rfc6052') return refusalOf(parsed.toByteArray().slice(-4).join('.'), internal);
  if (range === 'unicast' && isGlobal(parsed)) return null;
  if (internalRanges.has(range)) return internal ? null : `is not a public address (${range})`;
  return `is not a public address (${range === 'unicast' ? 'reserved' : range})`;
}

/** Of IPv6 only 2000::/3 is given out; the rest of what counts as unicast (site-local, IPv4-compatible) leads inside. */
function isGlobal(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === 'ipv4' || ((address.toByteArray()[0] ?? 0) & 0xe0) === 0x20;
}

/** The address a URL's host name spells out, without brackets, or null when it is a name. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : null;
}
