import { createChatProvider } from './chat-completions/chat-provider.ts';
import { findImageRules, type ImageModelTable, type ImageRules } from './images/image-rules.ts';
import { createOpenAiImages } from './images/openai-image-models.ts';
import { fitEffort, type ParamOverrides, type ParamContext, type ParamRules, type ReasoningEffort } from './params.ts';
import type { Provider, ProviderSettings } from './provider.ts';
import { isHostOf, withResponses } from './responses/with-responses.ts';
import { accessAt, openAiNames, providerFields } from './settings-fields.ts';

const imagine: ImageRules = {
  perCall: 10,
  size: {
    shapeName: 'aspect_ratio',
    shapes: ['1:1', '4:3', '3:4', '3:2', '2:3', '16:9', '9:16', '2:1', '1:2', '19.5:9', '9:19.5', '20:9', '9:20'],
    tiers: { name: 'resolution', edges: { '1k': 1024, '2k': 2048 } },
  },
  quality: { standard: 'medium', hd: 'high' },
  style: false,
  responseFormat: true,
};

/** xAI's image models: `grok-2-image` has one size, later ones aspect ratios. */
const xaiImageModels: ImageModelTable = {
  models: [[/^grok-2/, { perCall: 10, size: null, quality: {}, style: false, responseFormat: true }]],
  others: imagine,
};

const address = 'https://api.x.ai/v1';
const access = accessAt(address);

const rules: ParamRules = { names: openAiNames, byModel: xaiParams };

const chatProvider = createChatProvider({
  id: 'xai',
  label: 'xAI',
  fields: providerFields({
    key: 'From console.x.ai, under API keys.',
    address,
    models: { model: 'grok-4.5', image_model: 'grok-imagine-image-quality' },
  }),
  rules,
  access,
  fetchesImages: isOwn,
  mixesReasoning: false,
  sees: (model) => /vision|^grok-(4(?!-code)|[5-9]|latest)/i.test(model),
  images: createOpenAiImages({ access, rules: (model) => findImageRules(xaiImageModels, model) }),
});

export const provider: Provider = withResponses(chatProvider, {
  rules,
  access,
  isOwn,
  lacksInstructions: true,
  encryptsReasoning: (model) => reasons(model.toLowerCase()),
});

function isOwn({ base_url }: ProviderSettings): boolean {
  return isHostOf(base_url || address, ['api.x.ai']);
}

/** Reasoning models refuse penalties and `stop`, and only some support `reasoning_effort`. */
function xaiParams({ params, model }: ParamContext): ParamOverrides {
  const name = model.toLowerCase();
  const efforts = effortsOf(name);
  const fitted = params.reasoning_effort === undefined ? null : fitEffort(params.reasoning_effort, efforts);
  return {
    refused: [
      ...(reasons(name) ? (['frequency_penalty', 'presence_penalty', 'stop'] as const) : []),
      ...(efforts.length === 0 ? (['reasoning_effort'] as const) : []),
    ],
    ...(fitted !== null && {
      nearest: fitted.nearest,
      written: { reasoning_effort: { reasoning_effort: fitted.effort } },
    }),
  };
}

function reasons(name: string): boolean {
  return (
    effortsOf(name).length > 0 || (/^grok-(4|[5-9]|code|build|latest)/.test(name) && !name.includes('non-reasoning'))
  );
}

function effortsOf(name: string): readonly ReasoningEffort[] {
  if (name.includes('non-reasoning')) return [];
  if (name.startsWith('grok-3-mini')) return ['low', 'high'];
  if (name.startsWith('grok-4.20-multi-agent')) return ['low', 'medium', 'high', 'xhigh'];
  if (/^grok-(4\.3|latest)/.test(name)) return ['none', 'low', 'medium', 'high'];
  return /^grok-(4\.[5-9](?!\d)|[5-9])/.test(name) ? ['low', 'medium', 'high'] : [];
}
