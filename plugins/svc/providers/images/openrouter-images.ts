import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { cleanMessage } from '../../kit/clean-message.ts';
import { createChatClients, type ChatAccessOf } from '../chat-completions/chat-client.ts';
import { chatReport, chatResponse, chatTokenDetails, chatUsage } from '../chat-completions/chat-response.ts';
import { tokenDetails } from '../../kit/token-details.ts';
import { listAt, objectAt, textAt, usageIn, type JsonObject } from '../json.ts';
import { keepUsage } from '../provider-errors.ts';
import { ProviderError } from '../provider.ts';
import type { ImageRequest, ImageResult, ProviderConnection } from '../provider.ts';
import { readJson, sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { findImageRules, writeImageFields } from './image-rules.ts';
import type { ImageCalls } from './image-rules.ts';
import { imageOutput } from './images-response.ts';
import { openRouterImageModels } from './openai-image-models.ts';

/** Models with text output require both modalities; image-only models refuse `text`. */
export function openRouterModalities(model: string): readonly string[] {
  return /^(google|openai|openrouter)\//i.test(model) ? ['image', 'text'] : ['image'];
}

/** Images of OpenRouter: Chat Completions with `modalities`, using the `openai` package. */
export function createOpenRouterImages(access: ChatAccessOf): Pick<ImageCalls, 'generate'> {
  const getClient = createChatClients();
  return {
    generate: (request, connection) =>
      withTimeLimit(connection, async (signal) => {
        const { body, ignored } = openRouterImageRequest(request);
        const client = await getClient(access(connection.settings, request.model), connection);
        // OpenAI's type has neither these modalities nor `image_config`.
        const params = body as unknown as ChatCompletionCreateParamsNonStreaming;
        const response = await client.chat.completions
          .create(params, { signal, timeout: sdkTimeout(connection) })
          .asResponse();
        const received = await readJson(response);
        const read = () => openRouterImages(received, request, connection);
        return { ...(await keepUsage(() => chatReport(usageIn(received)), read)), ignored };
      }),
  };
}

export function openRouterImageRequest(request: ImageRequest): { body: JsonObject; ignored: readonly string[] } {
  const { model, prompt } = request;
  const { wire, ignored } = writeImageFields(request, findImageRules(openRouterImageModels, model));
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
 * Reads the images of a chat completion.
 *
 * @throws ProviderError as for text, and `rejected` for text without an image.
 */
export function openRouterImages(
  body: JsonObject,
  request: { readonly model: string },
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
    const details = chatTokenDetails(body['usage']);
    return {
      images,
      usage: usage === null ? null : { ...usage },
      // Unless images are counted apart, all that the model returned besides its reasoning is an image.
      tokenDetails: tokenDetails(usage, {
        image_output: (usage?.output_tokens ?? 0) - (details?.reasoning ?? 0),
        ...details,
      }),
      model: textAt(body, 'model') ?? request.model,
    };
  }
  const { content, finish } = chatResponse(body, request, connection);
  const reason =
    content === ''
      ? `its response has no image${finish === undefined ? '' : ` (${finish})`}.`
      : `it returned text and no image: ${cleanMessage(content, connection.settings)}`;
  throw new ProviderError({ kind: 'rejected', status: 200, message: reason });
}
