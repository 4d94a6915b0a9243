import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { cleanMessage } from '../../kit/clean-message.ts';
import { createChatClients, type ChatAccessOf } from '../chat-completions/chat-client.ts';
import { chatResponse, chatUsage } from '../chat-completions/chat-response.ts';
import { listAt, objectAt, textAt, type JsonObject } from '../json.ts';
import {
  ProviderError,
  type ImageCapability,
  type ImageRequest,
  type ImageResult,
  type ProviderConnection,
} from '../provider.ts';
import { readJson } from '../read-json.ts';
import { sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { imageRulesOf, takenFields, writeImageFields } from './image-rules.ts';
import { imageOutput } from './images-response.ts';
import { openRouterImageModels, openRouterModalities } from './openrouter-image-models.ts';

/** Images of OpenRouter, which draws by Chat Completions with `modalities`; by the `openai` package. */
export function createOpenRouterImages(access: ChatAccessOf): ImageCapability {
  const clientOf = createChatClients();
  return {
    perCall: () => 1,
    takes: (model) => takenFields(imageRulesOf(openRouterImageModels, model)),
    generate: (request, connection) =>
      withTimeLimit(connection, async (signal) => {
        const { body, ignored } = openRouterImageRequest(request);
        const client = await clientOf(access(connection.settings, request.model), connection);
        // The SDK's type is that of OpenAI, which knows neither these modalities nor `image_config`.
        const params = body as unknown as ChatCompletionCreateParamsNonStreaming;
        const response = await client.chat.completions
          .create(params, { signal, timeout: sdkTimeout(connection) })
          .asResponse();
        return { ...openRouterImages(await readJson(response), request, connection), ignored };
      }),
  };
}

export function openRouterImageRequest(request: ImageRequest): { body: JsonObject; ignored: readonly string[] } {
  const { model, prompt } = request;
  const { wire, ignored } = writeImageFields(request, imageRulesOf(openRouterImageModels, model));
  const messages = [{ role: 'user', content: prompt }];
  return {
    body: {
      model,
      messages,
      modalities: openRouterModalities(model),
      ...(Object.keys(wire).length > 0 && { image_config: wire }),
    },
    ignored,
  };
}

/**
 * Reads a chat completion with images in it.
 *
 * @throws ProviderError as for text, and `rejected` when words came and no image.
 */
export function openRouterImages(
  body: JsonObject,
  asked: { readonly model: string },
  connection: ProviderConnection,
): Omit<ImageResult, 'ignored'> {
  const message = objectAt(listAt(body, 'choices')[0], 'message');
  const images = listAt(message, 'images')
    .map((image) =>
      imageOutput({
        url: textAt(objectAt(image, 'image_url'), 'url'),
        b64_json: null,
        revised_prompt: null,
        mimeType: null,
      }),
    )
    .filter((image) => image !== null);
  if (images.length > 0) {
    const usage = chatUsage(body['usage']);
    return { images, usage: usage === null ? null : { ...usage }, model: textAt(body, 'model') ?? asked.model };
  }
  const { content } = chatResponse(body, asked, connection);
  const reason =
    content === ''
      ? 'there is no image in its answer.'
      : `it answered with words and no image: ${cleanMessage(content, connection.settings)}`;
  throw new ProviderError({ kind: 'rejected', status: 200, message: reason });
}
