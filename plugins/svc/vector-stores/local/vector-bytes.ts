import { endianness } from 'node:os';

const size = Float32Array.BYTES_PER_ELEMENT;
const isLittle = endianness() === 'LE';

/** The 32-bit floats of a vector, little-endian. */
export function toBytes(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.from(Float32Array.from(values).buffer);
  return isLittle ? bytes : bytes.swap32();
}

/** The vector in bytes of `toBytes`, without a copy where the machine allows it. */
export function fromBytes(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  if (isLittle && byteOffset % size === 0) return new Float32Array(buffer, byteOffset, byteLength / size);
  const copy = Buffer.from(Uint8Array.from(bytes).buffer);
  if (!isLittle) copy.swap32();
  return new Float32Array(copy.buffer);
}
