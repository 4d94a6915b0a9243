import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { DocumentError, formatNumber } from '#plugin-api';
import { damaged } from './text-blocks.ts';

const limits = { entries: 10_000, inflated: 100_000_000, ratio: 300 };
/** Bytes below which the ratio of an entry says nothing. */
const ratioFrom = 1_000_000;
/** Formats that the old programs of Microsoft and files with a password share. */
const compoundFile = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** A zip file whose entries are read one by one, never to a folder. */
export interface ZipEntries {
  /** Names in their order. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /**
   * The content of an entry as it inflates; of one that is missing, nothing.
   *
   * @throws DocumentError beyond 100 MB of all entries, or if the file is damaged or has a password
   */
  read(name: string): AsyncIterable<Uint8Array>;
}

export const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] ?? 9) <= 7;

/** Whether the bytes are a compound file. */
export const isCompound = (bytes: Uint8Array): boolean => compoundFile.equals(bytes.subarray(0, 8));

/** @throws DocumentError if the file is damaged or has too many entries */
export async function openZip(bytes: Uint8Array): Promise<ZipEntries> {
  const { fromBufferPromise } = await import('yauzl');
  const entries = new Map<string, Entry>();
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const zip = await fromBufferPromise(buffer, { lazyEntries: true }).catch(throwDamaged);
  if (zip.entryCount > limits.entries)
    throw new DocumentError(
      `This file has more than ${formatNumber(limits.entries)} parts. Save it without what it embeds.`,
    );
  try {
    for await (const entry of zip.eachEntry()) if (!entries.has(entry.fileName)) entries.set(entry.fileName, entry);
  } catch (error) {
    throwDamaged(error);
  }
  let inflated = 0;
  return {
    names: [...entries.keys()],
    has: (name) => entries.has(name),
    async *read(name) {
      const entry = entries.get(name);
      if (entry === undefined) return;
      for await (const chunk of openEntry(zip, entry)) {
        inflated += chunk.length;
        if (inflated > limits.inflated) throw tooLarge();
        yield chunk;
      }
    },
  };
}

async function* openEntry(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  if (entry.isEncrypted()) throw withPassword();
  const { compressedSize, uncompressedSize } = entry;
  if (uncompressedSize > limits.inflated) throw tooLarge();
  if (uncompressedSize > ratioFrom && uncompressedSize > compressedSize * limits.ratio) throw tooLarge();
  try {
    const stream: Readable = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    throwDamaged(error);
  }
}

export function withPassword(): DocumentError {
  return new DocumentError('This file has a password. Save it without one.');
}

function tooLarge(): DocumentError {
  return new DocumentError('This file unpacks to more than 100 MB. Split it, or save it without what it embeds.');
}

function throwDamaged(error: unknown): never {
  throw error instanceof DocumentError ? error : damaged();
}
