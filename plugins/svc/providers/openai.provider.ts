import { isReasoningModel, openAiParams, openAiSees } from './chat-completions/openai-models.ts';
import type { ChatAccess } from './chat-completions/chat-client.ts';
import { createChatProvider } from './chat-completions/chat-provider.ts';
import { createOpenAiEmbeddings, openAiLimits, withoutDimensions } from './embeddings/openai-embeddings.ts';
import { findImageRules } from './images/image-rules.ts';
import { createOpenAiImages, openAiImageModels } from './images/openai-image-models.ts';
import type { ParamRules } from './params.ts';
import type { Provider, ProviderSettings } from './provider.ts';
import { isHostOf, withResponses } from './responses/with-responses.ts';
import { accessAt, openAiNames, providerFields } from './settings-fields.ts';

const address = 'https://api.openai.com/v1';

const rules: ParamRules = { names: openAiNames, byModel: openAiParams };

const chatProvider = createChatProvider({
  id: 'openai',
  label: 'OpenAI',
  fields: {
    ...providerFields({
      key: 'From platform.openai.com, under API keys.',
      address,
      addressHelp: 'With the version. Change it only for a compatible server of your own.',
      models: { model: 'gpt-5.6-terra', embedding_model: 'text-embedding-3-small', image_model: 'gpt-image-2' },
    }),
    organization: {
      type: 'string',
      title: 'Organization',
      description: 'ID of the organization to bill, if the account has several.',
    },
  },
  rules,
  access,
  takesOpenAiHints: true,
  fetchesImages: isOwn,
  // It returns none in this API, and refuses that of others.
  lacks: ['messages.reasoning'],
  // Behind another address may be any model.
  mixesReasoning: ({ base_url }) => (base_url || address) !== address,
  sees: openAiSees,
  images: createOpenAiImages({ access, rules: (model) => findImageRules(openAiImageModels, model), edits: true }),
  embeddings: createOpenAiEmbeddings({
    access,
    takes: ['dimensions', 'encodingFormat', 'user'],
    limits: openAiLimits,
    refusedBy: withoutDimensions,
    // Less than half the size of JSON numbers and faster to parse; OpenAI's SDKs use it too.
  }),
});

export const provider: Provider = withResponses(chatProvider, {
  rules,
  access,
  isOwn,
  chatModels: /audio|search-(preview|api)/,
  leastTokens: 16,
  encryptsReasoning: isReasoningModel,
});

function isOwn({ base_url }: ProviderSettings): boolean {
  return isHostOf(base_url || address, ['api.openai.com']);
}

function access(settings: ProviderSettings): ChatAccess {
  return {
    organization:
      typeof settings['organization'] === 'string' && settings['organization'] !== '' ? settings['organization'] : null,
    ...accessAt(address)(settings, null),
  };
}
