import { createHash } from 'node:crypto';

/** RFC 9562's namespace of addresses. */
const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/**
 * The id of a point (D15): Qdrant takes UUIDs and unsigned integers alone. A UUID goes as it is, in lower case; the
 * digits of an integer go as that integer; any other id becomes the UUIDv5 of its text, the same each time.
 */
export function pointId(id: string): string | number {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id.toLowerCase();
  if (/^(0|[1-9]\d{0,15})$/.test(id) && Number.isSafeInteger(Number(id))) return Number(id);
  return uuidV5(id);
}

function uuidV5(name: string): string {
  const bytes = createHash('sha1').update(namespace).update(name, 'utf8').digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
