import { isAscii } from 'node:buffer';

/**
 * How much one JSON body may hold (D46): parsing and checking it takes well below 200 ms then, whatever it holds.
 * Several nodes have the same bounds.
 */
export const jsonBounds = {
  /** Deeper input would only exhaust the stack. */
  depth: 512,
  /** Of one object. */
  members: 1_000,
  /** Members of all objects and elements of all lists. An empty object or list counts twice. */
  values: 100_000,
  /** Bytes besides files as base64 in `data:` URLs, which cost next to nothing. */
  bytes: 10_485_760,
  /** Files whose bytes do not count. Those of further ones do. */
  files: 200,
} as const;

export type JsonBound = Exclude<keyof typeof jsonBounds, 'files'>;

/** Bytes below which no bound can be exceeded. */
const harmless = 2 * jsonBounds.depth;

/**
 * The first bound that a body exceeds, or null. It reads bytes and creates no values, and stops at the bound. What it says about
 * malformed JSON holds for the part that a parser reads before it fails.
 */
export function exceededBound(body: Buffer): JsonBound | null {
  if (body.length <= harmless) return null;
  /** Members of each open object so far; no number for lists, and for what is outside of both. */
  const members = [NaN];
  let [depth, values, files, fileBytes] = [0, 0, 0, 0];
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (byte === quote) {
      const end = endOfString(body, index + 1);
      if (end - index > harmless && files < jsonBounds.files && isFile(body.subarray(index + 1, end))) {
        files += 1;
        fileBytes += end - index;
      }
      index = end;
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > jsonBounds.depth) return 'depth';
      members[depth] = byte === openBrace ? 1 : NaN;
      values += 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth = Math.max(0, depth - 1);
    } else if (byte === comma) {
      const count = (members[depth] ?? NaN) + 1;
      if (count > jsonBounds.members) return 'members';
      members[depth] = count;
      values += 1;
    }
    if (values > jsonBounds.values) return 'values';
  }
  return body.length - fileBytes > jsonBounds.bytes ? 'bytes' : null;
}

const [quote, backslash, comma, openBracket, openBrace, closeBracket, closeBrace] = [...'"\\,[{]}'].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number, number];

/** Bytes of a string that are looked at one by one. Most strings end before; the native search is faster for the others. */
const near = 64;

/** Index of the quote that ends a string, or the body's length if none does. */
function endOfString(body: Buffer, start: number): number {
  let index = start;
  for (;;) {
    for (const stop = index + near; index < stop; index += 1) {
      const byte = body[index];
      if (byte === quote || byte === undefined) return index;
      if (byte === backslash) index += 1;
    }
    const found = body.indexOf(quote, index);
    if (found < 0) return body.length;
    let first = found;
    while (first > index && body[first - 1] === backslash) first -= 1;
    if ((found - first) % 2 === 0) return found;
    index = found + 1;
  }
}

/** `data:`, the type with its parameters, and `;base64,`. */
const beginning = /^data:[\w.+/;=-]{0,150};base64,/i;

/** Whether a string is base64 in a `data:` URL, which has no escapes. Looking for them takes a millisecond for some MB. */
function isFile(text: Buffer): boolean {
  return beginning.test(text.toString('latin1', 0, 200)) && isAscii(text) && !text.includes(backslash);
}
