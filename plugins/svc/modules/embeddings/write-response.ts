import { RestResponse, type HostApi, type RestRequest } from '#plugin-api';
import { responseHeaders } from '../../kit/response-headers.ts';
import { mapVectors, writeVectors } from '../../kit/write-vectors.ts';
import type { EmbeddingsPort } from '../../ports.ts';
import type { EmbeddingsRequest, EmbeddingsResponse } from './hooks.ts';

interface Created {
  readonly result: Awaited<ReturnType<EmbeddingsPort['embed']>>;
  readonly call: EmbeddingsRequest;
  readonly request: RestRequest;
  readonly hooks: Pick<HostApi['hooks'], 'hasFilter' | 'applyFiltersAsync'>;
}

/** The response of `POST /embeddings`. */
export async function writeResponse({ result, call, request, hooks }: Created): Promise<RestResponse> {
  const { usage, provider, model, packed } = result;
  const rest = { usage, provider, model };
  const headers = responseHeaders(result);
  if (hooks.hasFilter('svc_embeddings_response')) {
    const embeddings = packed === undefined ? result.embeddings : await mapVectors(packed, readFloats);
    const body = await hooks.applyFiltersAsync('svc_embeddings_response', { embeddings, ...rest }, call, request);
    const isList = Array.isArray(body.embeddings);
    return new RestResponse({ body, headers, ...(isList && { write: () => writeBody(body.embeddings, body) }) });
  }
  if (packed === undefined)
    return new RestResponse({
      body: { embeddings: result.embeddings, ...rest },
      headers,
      write: () => writeBody(result.embeddings, rest),
    });
  return new RestResponse({ body: withLazyEmbeddings(packed, rest), headers, write: () => writeBody(packed, rest) });
}

/** The JSON of a response. Members beside the vectors follow them. */
function writeBody<Vector extends Float32Array | readonly number[]>(
  vectors: readonly Vector[],
  body: Omit<EmbeddingsResponse, 'embeddings'>,
): ReturnType<typeof writeVectors> {
  const rest = JSON.stringify({ ...body, embeddings: undefined });
  return writeVectors(vectors, {
    head: '{"embeddings":[',
    tail: rest === '{}' ? ']}' : `],${rest.slice(1)}`,
    write: (slice) => (isPacked(slice) ? writeFloats(slice) : JSON.stringify(slice).slice(1, -1)),
  });
}

function isPacked(vectors: readonly ArrayLike<number>[]): vectors is readonly Float32Array[] {
  return vectors[0] instanceof Float32Array;
}

/** The numbers that are sent. */
function readFloats(vectors: readonly Float32Array[]): number[][] {
  return JSON.parse(`[${Buffer.from(writeFloats(vectors)).toString('latin1')}]`) as number[][];
}

/** Most responses are sent as written: the numbers are parsed only if something reads them, and are the same then. */
function withLazyEmbeddings(
  packed: readonly Float32Array[],
  rest: Omit<EmbeddingsResponse, 'embeddings'>,
): EmbeddingsResponse {
  let parsed: EmbeddingsResponse['embeddings'] | undefined;
  return {
    get embeddings() {
      return (parsed ??= readFloats(packed));
    },
    ...rest,
  };
}

/**
 * The JSON of vectors that are 32-bit floats, with commas between them. Writing the numbers takes most of the time of a large
 * response: this is several times faster than JSON.stringify, which looks for the shortest text of a 64-bit number, and the text
 * is half as long. Each number is the shortest that parses to the same float, nine digits at most, as upstreams write their
 * floats, so that base64 and floats give the same numbers (D11).
 *
 * @param vectors of finite numbers.
 */
export function writeFloats(vectors: readonly Float32Array[]): Uint8Array {
  const numbers = vectors.reduce((sum, vector) => sum + vector.length, 0);
  const bytes = Buffer.allocUnsafe(numbers * maxNumberLength + vectors.length * 3);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  for (const [index, vector] of vectors.entries()) {
    if (index > 0) bytes[at++] = comma;
    bytes[at] = openingBracket;
    at = writeNumbers(vector, { bytes, view, at: at + 1 });
    bytes[at++] = closingBracket;
  }
  return bytes.subarray(0, at);
}

const [openingBracket, closingBracket, comma, minus, zero, point] = [...'[],-0.'].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number];

/** Bytes of one number with its comma: a 64-bit one has up to 24 characters. */
const maxNumberLength = 25;

/** The four digits of 0 to 9999, as the 32 bits they have in memory. */
const fourDigits = Uint32Array.from({ length: 10_000 }, (_, number) =>
  Buffer.from(String(number).padStart(4, '0')).readUInt32LE(),
);

interface Target {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Offset to start at. */
  readonly at: number;
}

/**
 * Numbers from 0.0001 up to 1, nearly all of an embedding, are a sign, `0.`, up to three zeros and nine digits, which are
 * computed as one integer.
 *
 * @returns the offset after the text.
 */
function writeNumbers(vector: Float32Array, { bytes, view, at: from }: Target): number {
  let at = from;
  for (let index = 0; index < vector.length; index += 1) {
    const value = vector[index] as number;
    if (index > 0) bytes[at++] = comma;
    const size = value < 0 ? -value : value;
    const scale = size >= 0.1 ? 1e9 : size >= 0.01 ? 1e10 : size >= 0.001 ? 1e11 : 1e12;
    const exact = Math.floor(size * scale + 0.5);
    const digits = size < 1 && size >= 1e-4 ? fewestDigits(exact, { size, scale }) : tenDigits;
    if (digits === tenDigits) {
      at += bytes.write(shortest(value), at, 'latin1');
      continue;
    }
    if (value < 0) bytes[at++] = minus;
    bytes[at++] = zero;
    bytes[at++] = point;
    for (let zeros = scale; zeros > 1e9; zeros /= 10) bytes[at++] = zero;
    const first = (digits / 1e8) | 0;
    const last = digits - first * 1e8;
    const middle = (last / 1e4) | 0;
    bytes[at] = zero + first;
    view.setUint32(at + 1, fourDigits[middle] as number, true);
    view.setUint32(at + 5, fourDigits[last - middle * 1e4] as number, true);
    at += 9;
    if (digits !== exact) while (bytes[at - 1] === zero) at -= 1;
  }
  return at;
}

/** No number of nine digits: a power of ten, or rounded up to one. */
const tenDigits = 1e9;

/** The nine digits, with zeros at the end if seven or eight digits identify the float. */
function fewestDigits(exact: number, { size, scale }: { readonly size: number; readonly scale: number }): number {
  const seven = Math.floor(exact / 100 + 0.5) * 100;
  if (Math.fround(seven / scale) === size) return seven;
  const eight = Math.floor(exact / 10 + 0.5) * 10;
  return Math.fround(eight / scale) === size ? eight : exact;
}

/** The shortest text that parses to the same 32-bit float, for numbers of any size. */
function shortest(value: number): string {
  for (const digits of [6, 7, 8]) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return String(candidate);
  }
  return String(Number(value.toPrecision(9)));
}
