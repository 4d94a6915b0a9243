import type { EmbedContentParameters, GoogleGenAI } from '@google/genai';
import { checkVectors } from '../embeddings/check-embeddings.ts';
import { sortFields } from '../embeddings/embedding-fields.ts';
import { unreadableResponse } from '../provider-errors.ts';
import { countAt, objectAt, type JsonObject } from '../json.ts';
import type { EmbeddingCapability, EmbeddingRequest, EmbeddingResult, ProviderConnection } from '../provider.ts';
import { sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { checkingFetch } from './google-client.ts';

/** "at most 100 requests can be in one batch", as batchEmbedContents refuses more. No limit on the tokens of a batch is named. */
const googleLimits = { inputs: 100 } as const;

/** Embeddings by batchEmbedContents, which is what `embedContent` of `@google/genai` calls. */
export function createGoogleEmbeddings(
  clientOf: (connection: ProviderConnection) => Promise<GoogleGenAI>,
): EmbeddingCapability {
  return {
    limits: googleLimits,
    embed: (request, connection) =>
      withTimeLimit(connection, async (abortSignal) => {
        const { parameters, ignored } = googleEmbeddingRequest(request);
        let body: JsonObject = {};
        // The SDK drops the usage, and would read the numbers a second time.
        const fetch = checkingFetch(connection, (received) => {
          body = received;
        });
        const client = await clientOf(connection);
        await client.models.embedContent({
          ...parameters,
          config: { ...parameters.config, abortSignal, httpOptions: { timeout: sdkTimeout(connection), fetch } },
        });
        return { ...googleEmbeddings(body, request), ignored };
      }),
  };
}

/** What `models.embedContent` of the SDK is called with; it makes one request of each content. */
export function googleEmbeddingRequest(request: EmbeddingRequest): {
  parameters: EmbedContentParameters;
  ignored: readonly string[];
} {
  const { taken, ignored } = sortFields(request, ['taskType', 'outputDimensionality']);
  // As whole contents: the SDK takes bare strings for the parts of one.
  const contents = request.input.map((text) => ({ parts: [{ text }] }));
  return { parameters: { model: request.model, contents, config: taken }, ignored };
}

/**
 * Reads an answer of batchEmbedContents, whose vectors stand in the order of the requests.
 *
 * The numbers are Google's own. Vectors that `output_dimensionality` cut short are of unit length with some models and
 * not with others (gemini-embedding-001); stretching them here would give callers other numbers than Google's, and hardly
 * help: cosine distance, the stores' default, is the same either way, and whoever takes the dot product can divide.
 */
export function googleEmbeddings(
  body: JsonObject,
  asked: Pick<EmbeddingRequest, 'model' | 'input'>,
): Omit<EmbeddingResult, 'ignored'> {
  const list = body['embeddings'];
  if (!Array.isArray(list)) throw unreadableResponse('no list of embeddings in it');
  const embeddings = (list as unknown[]).map((entry) => {
    const values = objectAt({ entry }, 'entry')['values'];
    if (!Array.isArray(values)) throw unreadableResponse('an entry without values in it');
    return values as number[];
  });
  checkVectors(embeddings, asked.input.length);
  const tokens = countAt(body['usageMetadata'], 'promptTokenCount');
  return {
    embeddings,
    usage:
      tokens === null
        ? null
        : { input_tokens: tokens, total_tokens: countAt(body['usageMetadata'], 'totalTokenCount') ?? tokens },
    model: asked.model,
  };
}
