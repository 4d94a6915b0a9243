import type { FakeProvider } from '../fake.ts';
import { openAiDialect } from './chat-dialect.ts';
import { createChatFake, released } from './chat-fake.ts';

/** OpenAI: the format the others follow. */
export const fakeOpenAi: FakeProvider = createChatFake({
  id: 'openai',
  dialect: { ...openAiDialect, images: { edits: true } },
  base: '/v1',
  models: ['gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.4-mini', 'gpt-4.1-mini', 'gpt-4o-mini', 'o4-mini'],
  embeddingModels: ['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'],
  imageModels: ['dall-e-3', 'dall-e-2', 'gpt-image-1', 'gpt-image-1.5', 'gpt-image-2'],
  model: (id) => ({ id, object: 'model', created: released, owned_by: 'system' }),
});
