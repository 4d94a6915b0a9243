import { withoutUndefined } from '#plugin-api';
import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import { createChatClients, type ChatAccessOf } from '../chat-completions/chat-client.ts';
import type { EmbeddingCapability, EmbeddingRequest, ProviderSettings } from '../provider.ts';
import { keepUsage } from '../provider-errors.ts';
import { readJson, sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { inputUsage } from './check-embeddings.ts';
import { splitFields, type EmbeddingField } from './embedding-fields.ts';
import { embeddingUsage, openAiEmbeddings } from './openai-response.ts';

export interface OpenAiEmbeddingsInit {
  readonly access: ChatAccessOf;
  /** Fields that the upstream supports. */
  readonly takes: readonly EmbeddingField[];
  readonly limits: EmbeddingCapability['limits'];
  /** Fields that a single model refuses. */
  readonly refusedBy?: (model: string, settings: ProviderSettings) => readonly EmbeddingField[];
}

/**
 * Limits of `POST /embeddings`: inputs of a call, and tokens of all inputs. OpenAI takes 2,048 inputs, but that response is one JSON
 * text of 40 MB, which is parsed without a pause (D46).
 */
export const openAiLimits = { inputs: 256, tokens: 300_000 } as const;

/** OpenAI's only model with a fixed length; it refuses the field. */
export function withoutDimensions(model: string): readonly EmbeddingField[] {
  return /(^|\/)text-embedding-ada-002/.test(model) ? ['dimensions'] : [];
}

/** Embeddings in OpenAI's format, using the `openai` package. */
export function createOpenAiEmbeddings(init: OpenAiEmbeddingsInit): EmbeddingCapability {
  const getClient = createChatClients();
  return {
    limits: init.limits,
    takesTokens: true,
    takes: (model, settings) => supportedFields(init, model, settings),
    embed: (request, connection) =>
      withTimeLimit(connection, async (signal) => {
        const { body, ignored } = openAiRequest(request, init, connection.settings);
        const client = await getClient(init.access(connection.settings, request.model), connection);
        const response = await client.embeddings.create(body, { signal, timeout: sdkTimeout(connection) }).asResponse();
        const received = await readJson(response);
        const read = () => openAiEmbeddings(received, request, connection);
        return Object.assign(await keepUsage(() => inputUsage(embeddingUsage(received['usage'])), read), { ignored });
      }),
  };
}

function supportedFields(
  {
    takes,
    refusedBy,
  }: { readonly takes: readonly EmbeddingField[]; readonly refusedBy?: OpenAiEmbeddingsInit['refusedBy'] | undefined },
  model: string,
  settings: ProviderSettings,
): readonly EmbeddingField[] {
  const refused = refusedBy?.(model, settings) ?? [];
  return takes.filter((field) => !refused.includes(field));
}

/**
 * The body of `POST /embeddings`. The encoding is always set: without it the SDK requests base64 and decodes any
 * response as such.
 */
export function openAiRequest(
  request: EmbeddingRequest,
  { takes, refusedBy }: Pick<OpenAiEmbeddingsInit, 'takes' | 'refusedBy'>,
  settings: ProviderSettings,
): { body: EmbeddingCreateParams; ignored: readonly string[] } {
  const { supported, ignored } = splitFields(request, supportedFields({ takes, refusedBy }, request.model, settings));
  const { dimensions, encodingFormat = 'float', user } = supported;
  return {
    body: {
      model: request.model,
      // The SDK's type is for texts or tokens, not for a list of both.
      input: [...request.input] as string[],
      encoding_format: encodingFormat,
      ...withoutUndefined({ dimensions, user }),
    },
    ignored,
  };
}
