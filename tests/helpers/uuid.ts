import { createHash } from 'node:crypto';

/** UUIDv5 in the namespace of addresses, after RFC 9562, apart from the product's own. */
export function v5Of(name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.concat([Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex'), Buffer.from(name)]))
    .digest('hex');
  const variant = ((parseInt(hash[16]!, 16) & 3) | 8).toString(16);
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
