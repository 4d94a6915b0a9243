import { throwErrorInside } from '../chat-completions/chat-response.ts';
import { unreadableResponse } from '../provider-errors.ts';
import { countAt, isObject, textAt, type JsonObject } from '../json.ts';
import type { EmbeddingRequest, EmbeddingResult, ProviderConnection } from '../provider.ts';
import { checkVectors, vectorsOf } from './check-embeddings.ts';
import { decodeVector } from './decode-vector.ts';

/**
 * Reads an answer of `POST /embeddings` in OpenAI's format: vectors put in the order of their `index`, each decoded from
 * what came (D11).
 *
 * @throws ProviderError `unreadable` for another shape, or when the vectors are not one per input and of one length;
 * OpenRouter's errors inside a 200 are mapped like any answer of their status.
 */
export function openAiEmbeddings(
  body: JsonObject,
  asked: Pick<EmbeddingRequest, 'model' | 'input'>,
  connection: Pick<ProviderConnection, 'settings' | 'clock'>,
): Omit<EmbeddingResult, 'ignored'> {
  throwErrorInside(body, connection);
  const { data } = body;
  if (!Array.isArray(data)) throw unreadableResponse('no list of embeddings in it');
  if (data.length !== asked.input.length)
    throw unreadableResponse(`${String(data.length)} vectors for ${String(asked.input.length)} inputs`);
  const vectors: (readonly number[] | Float32Array)[] = [];
  for (const [place, entry] of (data as unknown[]).entries()) {
    if (!isObject(entry)) throw unreadableResponse('an entry that is no embedding in it');
    vectors[indexOf(entry, place, data.length)] = decodeVector(entry['embedding']);
  }
  // As many entries as inputs, each with an index below: a place is empty only where an index came twice.
  if (Object.keys(vectors).length !== data.length) throw unreadableResponse('an index that comes twice in it');
  checkVectors(vectors, asked.input.length);
  return Object.assign(vectorsOf(vectors), {
    usage: usageOf(body['usage']),
    model: textAt(body, 'model') ?? asked.model,
  });
}

/** Servers that leave the index out send the vectors in order. */
function indexOf(entry: JsonObject, place: number, count: number): number {
  const index = entry['index'] ?? place;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count)
    throw unreadableResponse('an index beyond the inputs in it');
  return index;
}

function usageOf(usage: unknown): EmbeddingResult['usage'] {
  const input = countAt(usage, 'prompt_tokens') ?? countAt(usage, 'total_tokens');
  return input === null ? null : { input_tokens: input, total_tokens: countAt(usage, 'total_tokens') ?? input };
}
