import { createChat } from './chat/chat-handler.ts';
import { createResponses } from './responses/responses-handler.ts';
import { createEmbeddings } from './create-embeddings.ts';
import { createImages } from './create-images.ts';
import { createModels } from './models.ts';
import type { Handlers, OpenAiPorts } from './openai-ports.ts';

export function createHandlers(ports: OpenAiPorts): Handlers {
  const models = createModels(ports);
  return {
    models: models.list,
    model: models.one,
    chat: createChat(ports),
    responses: createResponses(ports),
    embeddings: createEmbeddings(ports),
    images: createImages(ports),
  };
}
