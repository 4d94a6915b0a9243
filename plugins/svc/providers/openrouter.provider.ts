import type { ChatAccess } from './chat-completions/chat-client.ts';
import { isReasoningModel, openAiSees } from './chat-completions/openai-models.ts';
import { createChatProvider } from './chat-completions/chat-provider.ts';
import { createOpenAiEmbeddings, openAiLimits, withoutDimensions } from './embeddings/openai-embeddings.ts';
import { findImageRules, imagesOf } from './images/image-rules.ts';
import { openRouterImageModels } from './images/openai-image-models.ts';
import { lazyMethods } from '../kit/lazy.ts';
import type { ParamRules } from './params.ts';
import type { Provider, ProviderSettings } from './provider.ts';
import { isHostOf, withResponses } from './responses/with-responses.ts';
import { accessAt, compatibleNames, providerFields } from './settings-fields.ts';

const address = 'https://openrouter.ai/api/v1';

const rules: ParamRules = {
  // OpenRouter drops parameters that the model does not support.
  names: { ...compatibleNames, top_k: 'top_k', reasoning_effort: 'reasoning.effort' },
  byModel: ({ params }) => ({ written: { reasoning_effort: { reasoning: { effort: params.reasoning_effort } } } }),
};

const chatProvider = createChatProvider({
  id: 'openrouter',
  label: 'OpenRouter',
  fields: {
    ...providerFields({
      key: 'From openrouter.ai, under Keys.',
      address,
      models: {
        model: 'openrouter/auto',
        embedding_model: 'openai/text-embedding-3-small',
        image_model: 'google/gemini-3.1-flash-image',
      },
    }),
    app_url: {
      type: 'string',
      title: 'Site URL',
      description: 'Sent as HTTP-Referer, so that OpenRouter can show the site. Optional.',
    },
    app_title: { type: 'string', title: 'Site title', description: 'Sent as X-Title. Optional.' },
  },
  rules,
  access,
  fetchesImages: ({ base_url }) => isHostOf(base_url || address, ['openrouter.ai']),
  mixesReasoning: false,
  reportsCost: true,
  sees: openRouterSees,
  images: imagesOf(
    (model) => findImageRules(openRouterImageModels, model),
    lazyMethods(
      async () => (await import('./images/openrouter-images.ts')).createOpenRouterImages(access),
      ['generate'],
    ),
  ),
  // OpenRouter documents no limits. Models with lower ones than OpenAI's return an error that says so.
  embeddings: createOpenAiEmbeddings({
    access,
    takes: ['dimensions', 'encodingFormat'],
    limits: openAiLimits,
    refusedBy: withoutDimensions,
  }),
  checkKey: async (get) => {
    await get('/key').then((response) => response.text(), ignoreUnlessRefused);
  },
});

export const provider: Provider = withResponses(chatProvider, { rules, access, encryptsReasoning: isReasoningModel });

/** By the name of the model and its vendor; `openrouter/auto` chooses a model that fits. */
function openRouterSees(model: string): boolean {
  const name = model.toLowerCase();
  return (
    (name.startsWith('openai/') && openAiSees(name)) ||
    /^openrouter\/auto|^anthropic\/claude-(?!instant|v?[12](?!\d))|^google\/(gemini|gemma-[3-9])|^x-ai\/grok-([4-9])/.test(
      name,
    ) ||
    /vision|[-/]vl[-:]|\dvl|pixtral|llama-4|mistral-(small-3\.[1-9]|medium-3)/.test(name)
  );
}

function access(settings: ProviderSettings): ChatAccess {
  return { ...accessAt(address)(settings, null), headers: attribution(settings) };
}

/** The model list is public, so only this call detects a wrong key. The list reports any other error. */
function ignoreUnlessRefused(error: unknown): void {
  const status = (error as { status?: unknown }).status;
  if (status === 401 || status === 403) throw error;
}

function attribution(settings: Readonly<Record<string, unknown>>): Record<string, string> {
  const headers = { 'HTTP-Referer': settings['app_url'], 'X-Title': settings['app_title'] };
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && /^[\x20-\x7e]+$/.test(entry[1]),
    ),
  );
}
