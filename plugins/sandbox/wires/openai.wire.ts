import type { Wire } from '../wire.ts';
import { openAiDialect } from './chat-dialect.ts';
import { chatWire, released } from './chat-wire.ts';

/** OpenAI: the format the others follow. */
export const openAiWire: Wire = chatWire({
  id: 'openai',
  dialect: openAiDialect,
  base: '/v1',
  models: ['gpt-4o-mini', 'gpt-4o', 'gpt-4.1', 'gpt-5', 'gpt-5-mini', 'o4-mini'],
  model: (id) => ({ id, object: 'model', created: released, owned_by: 'system' }),
});
