import { throwErrorInside } from '../chat-completions/chat-response.ts';
import { unreadableResponse } from '../provider-errors.ts';
import { countAt, textAt, type JsonObject } from '../json.ts';
import type { EmbeddingRequest, EmbeddingResult, ProviderConnection } from '../provider.ts';
import { checkVectors, resultVectors } from './check-embeddings.ts';
import { endianness } from 'node:os';
import { isRecord } from '#plugin-api';

const bytesPerNumber = 4;

/**
 * Decodes one vector of a response: an array of numbers, or base64 of little-endian 32-bit floats. The value decides, not
 * the request, because compatible servers may ignore the requested encoding (D11).
 *
 * @throws ProviderError `unreadable` for anything else. The items of an array are not checked.
 */
function decodeVector(value: unknown): Float32Array | readonly number[] {
  if (Array.isArray(value)) return value as number[];
  if (typeof value === 'string') return decodeBase64(value);
  throw unreadableResponse('a vector that is neither numbers nor base64');
}

function decodeBase64(text: string): Float32Array {
  const size = decodedSize(text);
  if (size === 0 || size % bytesPerNumber !== 0) throw unreadableResponse('base64 that is not 32-bit numbers');
  const floats = new Float32Array(size / bytesPerNumber);
  const bytes = Buffer.from(floats.buffer);
  // Node skips invalid characters, so fewer bytes than expected mean invalid base64.
  if (bytes.write(text, 'base64') !== size) throw unreadableResponse('a vector that is neither numbers nor base64');
  if (endianness() === 'BE') bytes.swap32();
  return floats;
}

function decodedSize(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(((text.length - padding) * 3) / 4);
}

/**
 * Reads a response of `POST /embeddings` in OpenAI's format: the decoded vectors, ordered by their `index` (D11).
 *
 * @throws ProviderError `unreadable` for another format, a wrong number of vectors or different lengths. OpenRouter's errors
 * in a 200 are mapped by their own status.
 */
export function openAiEmbeddings(
  body: JsonObject,
  request: Pick<EmbeddingRequest, 'model' | 'input'>,
  connection: Pick<ProviderConnection, 'settings' | 'clock'>,
): Omit<EmbeddingResult, 'ignored'> {
  throwErrorInside(body, connection);
  const { data } = body;
  if (!Array.isArray(data)) throw unreadableResponse('no list of embeddings in it');
  if (data.length !== request.input.length)
    throw unreadableResponse(`${String(data.length)} vectors for ${String(request.input.length)} inputs`);
  const vectors: (readonly number[] | Float32Array)[] = [];
  for (const [position, entry] of (data as unknown[]).entries()) {
    if (!isRecord(entry)) throw unreadableResponse('an entry that is not an embedding');
    vectors[readIndex(entry, position, data.length)] = decodeVector(entry['embedding']);
  }
  // As many entries as inputs, so a gap means a duplicate index.
  if (Object.keys(vectors).length !== data.length) throw unreadableResponse('a duplicate index');
  checkVectors(vectors, request.input.length);
  return Object.assign(resultVectors(vectors), {
    usage: embeddingUsage(body['usage']),
    model: textAt(body, 'model') ?? request.model,
  });
}

/** The index of an entry; servers without it return the vectors in order. */
function readIndex(entry: JsonObject, position: number, count: number): number {
  const index = entry['index'] ?? position;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count)
    throw unreadableResponse('an index out of range');
  return index;
}

export function embeddingUsage(usage: unknown): EmbeddingResult['usage'] {
  const input = countAt(usage, 'prompt_tokens') ?? countAt(usage, 'total_tokens');
  return input === null ? null : { input_tokens: input, total_tokens: countAt(usage, 'total_tokens') ?? input };
}
