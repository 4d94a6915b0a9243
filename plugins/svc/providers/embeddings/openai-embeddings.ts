import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import { createChatClients, type ChatAccessOf } from '../chat-completions/chat-client.ts';
import type { EmbeddingCapability, EmbeddingRequest, ProviderSettings } from '../provider.ts';
import { readJson } from '../read-json.ts';
import { sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { sortFields, type EmbeddingField } from './embedding-fields.ts';
import { openAiEmbeddings } from './openai-response.ts';

export interface OpenAiEmbeddingsInit {
  readonly access: ChatAccessOf;
  /** Fields the far end takes at all. */
  readonly takes: readonly EmbeddingField[];
  readonly limits: EmbeddingCapability['limits'];
  /** Asked for where the caller names no encoding; default floats. */
  readonly encoding?: 'float' | 'base64';
  /** Fields that a single model refuses though the far end takes them. */
  readonly refusedBy?: (model: string, settings: ProviderSettings) => readonly EmbeddingField[];
}

/** From the description of `POST /embeddings` in OpenAI's specification: inputs of a call, and tokens over all of them. */
export const openAiLimits = { inputs: 2048, tokens: 300_000 } as const;

/** The only model of OpenAI's that has one size; it refuses the field. */
export function withoutDimensions(model: string): readonly EmbeddingField[] {
  return /(^|\/)text-embedding-ada-002/.test(model) ? ['dimensions'] : [];
}

/** Embeddings in OpenAI's format, by the `openai` package. */
export function createOpenAiEmbeddings(init: OpenAiEmbeddingsInit): EmbeddingCapability {
  const clientOf = createChatClients();
  return {
    limits: init.limits,
    embed: (request, connection) =>
      withTimeLimit(connection, async (signal) => {
        const { body, ignored } = openAiRequest(request, init, connection.settings);
        const client = await clientOf(init.access(connection.settings, request.model), connection);
        const response = await client.embeddings.create(body, { signal, timeout: sdkTimeout(connection) }).asResponse();
        return Object.assign(openAiEmbeddings(await readJson(response), request, connection), { ignored });
      }),
  };
}

/**
 * The body of `POST /embeddings`. The encoding is always written out: without it the SDK asks for base64 and takes
 * whatever comes for it.
 */
export function openAiRequest(
  request: EmbeddingRequest,
  { takes, refusedBy, encoding = 'float' }: Pick<OpenAiEmbeddingsInit, 'takes' | 'refusedBy' | 'encoding'>,
  settings: ProviderSettings,
): { body: EmbeddingCreateParams; ignored: readonly string[] } {
  const refused = refusedBy?.(request.model, settings) ?? [];
  const { taken, ignored } = sortFields(
    request,
    takes.filter((field) => !refused.includes(field)),
  );
  const { dimensions, encodingFormat = encoding, user } = taken;
  return {
    body: {
      model: request.model,
      input: [...request.input],
      encoding_format: encodingFormat,
      ...(dimensions !== undefined && { dimensions }),
      ...(user !== undefined && { user }),
    },
    ignored,
  };
}
