import { withoutUndefined } from '#plugin-api';
import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import { createChatClients, type ChatAccessOf } from '../chat-completions/chat-client.ts';
import type { EmbeddingCapability, EmbeddingRequest, ProviderSettings } from '../provider.ts';
import { usageIn } from '../json.ts';
import { keepUsage } from '../provider-errors.ts';
import { readJson, sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { inputUsage } from './check-embeddings.ts';
import { splitFields, type EmbeddingField } from './embedding-fields.ts';
import { embeddingUsage, openAiEmbeddings } from './openai-response.ts';

/** Calls of `POST /embeddings`. @param takes the fields that a model supports. */
export function createEmbed(
  access: ChatAccessOf,
  takes: (model: string, settings: ProviderSettings) => readonly EmbeddingField[],
): Pick<EmbeddingCapability, 'embed'> {
  const getClient = createChatClients();
  return {
    embed: (request, connection) =>
      withTimeLimit(connection, async (signal) => {
        const { body, ignored } = openAiRequest(request, takes(request.model, connection.settings));
        const client = await getClient(access(connection.settings, request.model), connection);
        const response = await client.embeddings.create(body, { signal, timeout: sdkTimeout(connection) }).asResponse();
        const received = await readJson(response);
        const read = () => openAiEmbeddings(received, request, connection);
        return Object.assign(await keepUsage(() => inputUsage(embeddingUsage(usageIn(received))), read), { ignored });
      }),
  };
}

/**
 * The body of `POST /embeddings`. The encoding is always set: without it the SDK requests base64 and decodes any
 * response as such.
 */
function openAiRequest(
  request: EmbeddingRequest,
  takes: readonly EmbeddingField[],
): { body: EmbeddingCreateParams; ignored: readonly string[] } {
  const { supported, ignored } = splitFields(request, takes);
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
