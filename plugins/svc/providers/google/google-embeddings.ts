import type { EmbedContentParameters, EmbedContentResponse } from '@google/genai';
import { checkVectors, inputUsage } from '../embeddings/check-embeddings.ts';
import { splitFields } from '../embeddings/embedding-fields.ts';
import { keepUsage, unreadableResponse } from '../provider-errors.ts';
import { countAt, objectAt } from '../json.ts';
import type { EmbeddingCapability, EmbeddingRequest, EmbeddingResult } from '../provider.ts';
import { withTimeLimit } from '../time-limit.ts';
import { callGoogle } from './google-client.ts';
import { googleEmbeddingFields } from './google-models.ts';

/** Embeddings with batchEmbedContents, which `embedContent` of `@google/genai` calls. */
export const embed: EmbeddingCapability['embed'] = (request, connection) =>
  withTimeLimit(connection, async (abortSignal) => {
    const { parameters, ignored } = googleEmbeddingRequest(request);
    const { result } = await callGoogle(connection, abortSignal, (client, options) =>
      client.models.embedContent({ ...parameters, config: { ...parameters.config, ...options } }),
    );
    const read = () => googleEmbeddings(result, request);
    return { ...(await keepUsage(() => inputUsage(googleInput(result)), read)), ignored };
  });

/** The parameters of the SDK's `models.embedContent`, which sends one request per content. */
export function googleEmbeddingRequest(request: EmbeddingRequest): {
  parameters: EmbedContentParameters;
  ignored: readonly string[];
} {
  const { supported, ignored } = splitFields(request, googleEmbeddingFields);
  // As contents: the SDK would treat strings as the parts of one content.
  const contents = request.input.map((text) => ({ parts: [{ text: String(text) }] }));
  return { parameters: { model: request.model, contents, config: supported }, ignored };
}

/**
 * Reads a response of batchEmbedContents, whose vectors are in the order of the requests.
 *
 * Vectors shortened by `output_dimensionality` are not normalized by all models (gemini-embedding-001). They stay as Google
 * returns them: cosine distance, the stores' default, does not depend on the length.
 */
export function googleEmbeddings(
  body: Pick<EmbedContentResponse, 'embeddings' | 'usageMetadata'>,
  request: Pick<EmbeddingRequest, 'model' | 'input'>,
): Omit<EmbeddingResult, 'ignored'> {
  const list = body.embeddings;
  if (!Array.isArray(list)) throw unreadableResponse('no list of embeddings in it');
  const embeddings = (list as unknown[]).map((entry) => {
    const values = objectAt({ entry }, 'entry')['values'];
    if (!Array.isArray(values)) throw unreadableResponse('an entry without values in it');
    return values as number[];
  });
  checkVectors(embeddings, request.input.length);
  return { embeddings, usage: googleInput(body), model: request.model };
}

function googleInput({ usageMetadata }: Pick<EmbedContentResponse, 'usageMetadata'>): EmbeddingResult['usage'] {
  const tokens = countAt(usageMetadata, 'promptTokenCount');
  return tokens === null
    ? null
    : { input_tokens: tokens, total_tokens: countAt(usageMetadata, 'totalTokenCount') ?? tokens };
}
