import type { ChatAccess } from './chat-completions/chat-client.ts';
import { createChatProvider } from './chat-completions/chat-provider.ts';
import { createOpenAiEmbeddings } from './embeddings/openai-embeddings.ts';
import { fitEffort } from './params.ts';
import type { Provider, ProviderSettings } from './provider.ts';
import { apiKeyField } from '../kit/setting-schemas.ts';
import { baseUrlField, compatibleNames, modelFields } from './settings-fields.ts';

/** Families of local models that read images. */
const seeing =
  /llava|bakllava|vision|-?vl(:|-|$)|\d\.?\d?vl|minicpm-v|moondream|llama4|gemma3(?!n|:1b|:270m)|gemma[4-9]|mistral-small3\.[1-9]|qwen3\.5/i;

const address = 'http://127.0.0.1:11434/v1';

export const provider: Provider = createChatProvider({
  id: 'ollama',
  label: 'Ollama',
  required: ['base_url'],
  fields: {
    base_url: baseUrlField(address, 'Address of the Ollama server, with /v1.'),
    api_key: apiKeyField('Only for a server behind a gateway that asks for one.'),
    ...modelFields({ model: 'llama3.2', embedding_model: 'nomic-embed-text' }),
  },
  rules: {
    names: compatibleNames,
    byModel({ params }) {
      if (params.reasoning_effort === undefined) return {};
      const { effort, nearest } = fitEffort(params.reasoning_effort, ['none', 'low', 'medium', 'high']);
      return { nearest, written: { reasoning_effort: { reasoning_effort: effort } } };
    },
  },
  access,
  mixesReasoning: true,
  sees: (model) => seeing.test(model),
  lacks: ['tools.strict', 'tool_choice', 'parallel_tool_calls', 'image_url.detail', 'user', 'messages.name'],
  // Ollama documents no limit. A local model embeds the texts of a batch one by one within one time limit.
  embeddings: createOpenAiEmbeddings({ access, takes: ['dimensions', 'encodingFormat'], limits: { inputs: 100 } }),
});

/** The SDK requires a key; Ollama ignores it. */
function access(settings: ProviderSettings): ChatAccess {
  return { baseURL: settings.base_url || address, apiKey: settings.api_key || 'ollama' };
}
