import type { ImageGenerateParamsNonStreaming } from 'openai/resources/images';
import { createChatClients, type ChatAccessOf } from '../chat-completions/chat-client.ts';
import type { ImageCapability, ProviderSettings } from '../provider.ts';
import { readJson } from '../read-json.ts';
import { sdkTimeout, withTimeLimit } from '../time-limit.ts';
import { writeImageFields, type ImageRules } from './image-rules.ts';
import { imagesResponse } from './images-response.ts';

export interface OpenAiImagesInit {
  readonly access: ChatAccessOf;
  readonly rules: (model: string, settings: ProviderSettings) => ImageRules;
}

/** Images of a far end that speaks OpenAI's `POST /images/generations`, by the `openai` package. */
export function createOpenAiImages({ access, rules }: OpenAiImagesInit): ImageCapability {
  const clientOf = createChatClients();
  return {
    perCall: (model, settings) => rules(model, settings).perCall,
    generate: (request, connection) =>
      withTimeLimit(connection, async (signal) => {
        const { model, prompt, n } = request;
        const { wire, ignored } = writeImageFields(request, rules(model, connection.settings));
        const client = await clientOf(access(connection.settings, model), connection);
        // The fields are typed by us: more than one vendor speaks this.
        const params = { model, prompt, n, ...wire } as ImageGenerateParamsNonStreaming;
        const response = await client.images.generate(params, { signal, timeout: sdkTimeout(connection) }).asResponse();
        return { ...imagesResponse(await readJson(response), request), ignored };
      }),
  };
}
