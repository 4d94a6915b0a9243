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

/** Names of the same services. A site outside such a cloud does not call them either. */
const metadataNames = /^(?:metadata|metadata\.goog|metadata\.google\.internal|instance-data(?:\.ec2\.internal)?)\.?$/i;

/** Why a name is never called, whatever it resolves to, or null (D35). */
export function refusedName(hostname: string): string | null {
  return metadataNames.test(hostname) ? 'is a cloud metadata service, which is never called' : null;
}

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
  if (isWellKnownNat64(parsed)) return refusalReason(parsed.toByteArray().slice(-4).join('.'), internal);
  if (range === 'unicast' && isGlobal(parsed)) return null;
  if (internalRanges.has(range)) return internal ? null : `is not a public address (${range})`;
  return `is not a public address (${range === 'unicast' ? 'reserved' : range})`;
}

/**
 * 64:ff9b::/96 embeds an IPv4 address in its last four bytes. In 64:ff9b:1::/48 each network chooses where, so those addresses
 * are never allowed.
 */
function isWellKnownNat64(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return (
    address.range() === 'rfc6052' &&
    address
      .toByteArray()
      .slice(4, 12)
      .every((byte) => byte === 0)
  );
}

/** Only 2000::/3 is global IPv6; the rest of unicast (site-local, IPv4-compatible) is internal. */
function isGlobal(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === 'ipv4' || ((address.toByteArray()[0] ?? 0) & 0xe0) === 0x20;
}

/** Whether a URL's host is this machine by its very name. */
export function isLoopback(hostname: string): boolean {
  const literal = literalAddress(hostname);
  return literal === null ? /^localhost\.?$/i.test(hostname) : ipaddr.process(literal).range() === 'loopback';
}

/** A URL's host without the brackets of IPv6. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** The literal IP address in a URL's host, without brackets, or null for a name. */
export function literalAddress(hostname: string): string | null {
  const bare = withoutBrackets(hostname);
  return ipaddr.isValid(bare) ? bare : null;
}
