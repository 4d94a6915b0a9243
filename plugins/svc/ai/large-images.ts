import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRecord } from '#plugin-api';
import type { MessageImage, ProviderConnection, TextMessage } from '../providers/provider.ts';

/** Bytes from which an image is sent apart from the JSON around it. */
const large = 262_144;
/** Bytes that are encoded at once: some milliseconds. A multiple of three, as base64 has it. */
const atOnce = 786_432;

/** Images by the mark that is written into the body in the stead of their base64. */
export type ImagesApart = ReadonlyMap<string, MessageImage>;

/** Marks are of the alphabet of base64, since clients may look at it. */
const marks = /(svcImage[0-9a-f]{32})/;

/**
 * Sets large images apart: vendors' clients write bodies in one go, which takes half a second for 32 MB (D46). The messages that
 * are returned have marks as base64, and `sendImages` replaces these when the body is sent.
 */
export function setImagesApart(messages: readonly TextMessage[]): {
  readonly messages: readonly TextMessage[];
  readonly apart: ImagesApart;
} {
  const apart = new Map<string, MessageImage>();
  const mark = (image: MessageImage): MessageImage => {
    if ((image.base64 ?? image.bytes).length < large) return image;
    const base64 = `svcImage${randomUUID().replaceAll('-', '')}`;
    apart.set(base64, image);
    const { mimeType, detail } = image;
    return { mimeType, detail, base64, bytes: new Uint8Array() };
  };
  const marked = messages.map((message) =>
    message.images === undefined ? message : { ...message, images: message.images.map(mark) },
  );
  return { messages: marked, apart };
}

/** The same for the body of a request as its caller sent it: for base64, also at the end of a `data:` URL. */
export function setDataApart(body: Readonly<Record<string, unknown>>): {
  readonly body: Readonly<Record<string, unknown>>;
  readonly apart: ImagesApart;
} {
  const apart = new Map<string, MessageImage>();
  const mark = (value: unknown): unknown => {
    if (typeof value === 'string') return value.length < large ? value : markText(value);
    if (Array.isArray(value)) return value.map(mark);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mark(member)]));
  };
  const markText = (text: string): string => {
    const start = text.startsWith('data:') ? text.indexOf(',') + 1 : 0;
    const base64 = text.slice(start);
    if (!/^[\w+/=-]*$/.test(base64)) return text;
    const name = `svcImage${randomUUID().replaceAll('-', '')}`;
    apart.set(name, { mimeType: '', base64, bytes: new Uint8Array() });
    return text.slice(0, start) + name;
  };
  return { body: mark(body) as Readonly<Record<string, unknown>>, apart };
}

/** A connection whose requests have the images instead of their marks. Other requests of the process go on meanwhile. */
export function sendImages(connection: ProviderConnection, apart: ImagesApart): ProviderConnection {
  if (apart.size === 0) return connection;
  return {
    ...connection,
    async fetch(input, init) {
      if (typeof init?.body !== 'string') return connection.fetch(input, init);
      const body = await encode(init.body.split(marks).map((part) => apart.get(part) ?? part));
      return connection.fetch(input, { ...init, body });
    },
  };
}

async function encode(parts: readonly (string | MessageImage)[]): Promise<Uint8Array<ArrayBuffer>> {
  const lengths = parts.map((part) => (typeof part === 'string' ? Buffer.byteLength(part) : base64Length(part)));
  const body = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0));
  let length = 0;
  for (const part of parts) {
    if (typeof part === 'string') length += body.write(part, length);
    else
      for (const piece of base64Pieces(part)) {
        length += body.write(piece, length, 'latin1');
        await nextTurn();
      }
  }
  return body;
}

function base64Length(image: MessageImage): number {
  return image.base64?.length ?? Math.ceil(image.bytes.length / 3) * 4;
}

function* base64Pieces(image: MessageImage): Generator<string> {
  const { base64 } = image;
  const length = base64?.length ?? image.bytes.length;
  for (let from = 0; from < length; from += atOnce)
    yield (
      base64?.slice(from, from + atOnce) ?? Buffer.from(image.bytes.subarray(from, from + atOnce)).toString('base64')
    );
}
