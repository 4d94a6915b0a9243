import { neededFeatures, type TextFeature } from '../../plugins/svc/kit/tools.ts';
import { isHint } from '../../plugins/svc/kit/text-hints.ts';
import type { AiParams } from '../../plugins/svc/kit/ai-params.ts';
import type { Provider } from '../../plugins/svc/providers/provider.ts';

/** How a route treats a parameter; `–`: the provider does not have the capability. */
export type Treatment = 'honored' | 'translated' | 'left out' | 'refused' | '–';

type Members = Readonly<Record<string, unknown>>;

export interface ParameterCase {
  /** As in errors. */
  readonly name: string;
  readonly route: 'chat' | 'embeddings' | 'images';
  /** Members of the request that hold it. */
  readonly body: Members;
  /** What the code says. */
  treatment(provider: Provider): Treatment;
}

/** A model of each provider that supports most. */
export const sampleModels: Readonly<Record<string, Readonly<Partial<Record<ParameterCase['route'], string>>>>> = {
  openai: { chat: 'gpt-4.1', embeddings: 'text-embedding-3-small', images: 'gpt-image-2' },
  azure: { chat: 'gpt-4.1', embeddings: 'text-embedding-3-small', images: 'gpt-image-2' },
  google: { chat: 'gemini-2.5-flash', embeddings: 'gemini-embedding-001', images: 'gemini-3-pro-image' },
  openrouter: {
    chat: 'openai/gpt-4.1',
    embeddings: 'openai/text-embedding-3-small',
    images: 'google/gemini-3.1-flash-image',
  },
  claude: { chat: 'claude-opus-4-5' },
  deepseek: { chat: 'deepseek-chat' },
  xai: { chat: 'grok-3', images: 'grok-imagine-image-quality' },
  ollama: { chat: 'llama3.2', embeddings: 'qwen3-embedding' },
};

/** Their own formats; the others have OpenAI's. */
const foreign = ['google', 'claude'];
/** Requests to a provider with the format of the route are sent as they are, and the vendor judges them. */
const isSent = (id: string): boolean => !foreign.includes(id);
/** But for what vendors with that format name differently. */
const translated: readonly string[] = ['max_completion_tokens', 'reasoning_effort'];

const tool = { type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } };
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const format = (type: string) => ({
  response_format: { type, ...(type === 'json_schema' && { json_schema: { name: 'answer', schema } }) },
});

/** The providers of these tests have Chat Completions. */
const chat = { api: 'chat' };

function aiParam(name: keyof AiParams, value: unknown): ParameterCase {
  return {
    name,
    route: 'chat',
    body: { [name]: value },
    treatment({ id, text }) {
      const model = sampleModels[id]?.chat ?? '';
      if (isSent(id) && !translated.includes(name)) return 'honored';
      const given = { params: { [name]: value }, model, settings: chat };
      if (text?.unsupportedParams?.(given).includes(name) !== false) return isSent(id) ? 'left out' : 'refused';
      return text.params[name] === name ? 'honored' : 'translated';
    },
  };
}

function feature(name: TextFeature, body: Members): ParameterCase {
  return {
    name,
    route: 'chat',
    body,
    treatment({ id, text }) {
      if (isSent(id)) return 'honored';
      // Only what the same vendor returned: here it is DeepSeek's.
      if (name === 'messages.reasoning') return 'left out';
      if (text?.supports?.(name, sampleModels[id]?.chat ?? '', chat) !== true)
        return isHint(name) ? 'left out' : 'refused';
      return 'translated';
    },
  };
}

/** Parameters of OpenAI that no model gets. */
const others: Readonly<Record<'chat' | 'images', Members>> = {
  chat: {
    audio: { voice: 'alloy', format: 'mp3' },
    function_call: 'auto',
    functions: [{ name: 'find', parameters: {} }],
    logit_bias: { 50256: -100 },
    logprobs: true,
    modalities: ['text', 'audio'],
    moderation: { model: 'omni-moderation-latest' },
    prediction: { type: 'content', content: 'A' },
    service_tier: 'flex',
    top_logprobs: 2,
    verbosity: 'low',
    web_search_options: {},
  },
  images: {
    background: 'transparent',
    moderation: 'low',
    output_compression: 50,
    output_format: 'webp',
    partial_images: 2,
    stream: true,
  },
};

/** Parameters that the service itself reads, the same for all providers. */
export const ownParameters: Readonly<Record<ParameterCase['route'], readonly string[]>> = {
  chat: ['model', 'messages', 'stream', 'stream_options', 'n'],
  embeddings: ['model', 'input', 'encoding_format'],
  images: ['model', 'prompt', 'n', 'response_format'],
};

function refusedCases(route: 'chat' | 'images'): ParameterCase[] {
  const treatment = ({ id, images }: Provider): Treatment => {
    if (route === 'chat') return isSent(id) ? 'honored' : 'refused';
    return images === undefined ? '–' : 'refused';
  };
  return Object.entries(others[route]).map(([name, value]) => ({ name, route, body: { [name]: value }, treatment }));
}

function embeddingField(name: 'dimensions' | 'user', value: unknown): ParameterCase {
  return {
    name,
    route: 'embeddings',
    body: { [name]: value },
    treatment({ id, embeddings }) {
      if (embeddings === undefined) return '–';
      const takes = embeddings.takes?.(sampleModels[id]?.embeddings ?? '', {}) ?? [];
      if (takes.includes(name)) return 'honored';
      if (name === 'user') return 'left out';
      return takes.includes('outputDimensionality') ? 'translated' : 'refused';
    },
  };
}

function imageField(name: 'size' | 'quality' | 'style', value: string): ParameterCase {
  return {
    name,
    route: 'images',
    body: { [name]: value },
    treatment({ id, images }) {
      if (images === undefined) return '–';
      const takes = images.takes?.(sampleModels[id]?.images ?? '', {});
      const isTaken = name === 'quality' ? (takes?.quality.length ?? 0) > 0 : takes?.[name] === true;
      if (!isTaken) return 'refused';
      return id === 'openai' || id === 'azure' || (id === 'xai' && name === 'quality') ? 'honored' : 'translated';
    },
  };
}

/** One case for each parameter of the OpenAI-compatible routes that depends on the provider, or that none gets. */
export const parameterCases: readonly ParameterCase[] = [
  aiParam('temperature', 0.4),
  aiParam('top_p', 0.9),
  aiParam('max_completion_tokens', 200),
  { ...aiParam('max_completion_tokens', 200), name: 'max_tokens', body: { max_tokens: 200 }, treatment: maxTokens },
  aiParam('frequency_penalty', 0.5),
  aiParam('presence_penalty', -0.5),
  aiParam('stop', ['END']),
  aiParam('seed', 7),
  aiParam('top_k', 40),
  aiParam('reasoning_effort', 'low'),
  feature('tools', { tools: [tool] }),
  feature('tools.strict', { tools: [{ ...tool, function: { ...tool.function, strict: true } }] }),
  feature('tool_choice', { tools: [tool], tool_choice: 'required' }),
  feature('parallel_tool_calls', { tools: [tool], parallel_tool_calls: false }),
  feature('response_format.json_object', format('json_object')),
  feature('response_format.json_schema', format('json_schema')),
  feature('user', { user: 'ada' }),
  feature('messages.name', { messages: [{ role: 'user', content: 'Hello', name: 'ada' }] }),
  feature('messages.reasoning', {
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi', reasoning_content: 'A greeting.' },
      { role: 'user', content: 'Hello' },
    ],
  }),
  feature('metadata', { metadata: { a: 'b' } }),
  feature('prompt_cache_key', { prompt_cache_key: 'a' }),
  feature('prompt_cache_options', { prompt_cache_options: { ttl: '30m' } }),
  feature('prompt_cache_retention', { prompt_cache_retention: '24h' }),
  feature('safety_identifier', { safety_identifier: 'a' }),
  feature('store', { store: true }),
  ...refusedCases('chat'),
  embeddingField('dimensions', 256),
  embeddingField('user', 'ada'),
  imageField('size', '1024x1024'),
  imageField('quality', 'high'),
  imageField('style', 'vivid'),
  {
    name: 'user',
    route: 'images',
    body: { user: 'ada' },
    treatment: ({ images }) => (images === undefined ? '–' : 'left out'),
  },
  ...refusedCases('images'),
];

/** The alias is sent by the name that the provider has. */
function maxTokens({ text }: Provider): Treatment {
  return text?.params.max_completion_tokens === 'max_tokens' ? 'honored' : 'translated';
}

const routes = { chat: 'chat/completions', embeddings: 'embeddings', images: 'images/generations' } as const;

/** The README's table: how each provider treats each parameter, with the models of `sampleModels`. */
export function renderOpenAiParameters(providers: readonly Provider[]): string {
  const sections = (Object.keys(routes) as ParameterCase['route'][]).map((route) => {
    const rows = parameterCases
      .filter((one) => one.route === route)
      .map((one) => [`\`${one.name}\``, ...providers.map((provider) => one.treatment(provider))]);
    const model = ['model', ...providers.map(({ id }) => sampleModels[id]?.[route] ?? '–')];
    const lines = [[`\`${routes[route]}\``, ...providers.map(({ label }) => label)], [], model, ...rows];
    return lines
      .map((cells) => `| ${cells.length === 0 ? `${'--- | '.repeat(providers.length)}---` : cells.join(' | ')} |`)
      .join('\n');
  });
  const own = (Object.keys(routes) as ParameterCase['route'][]).map(
    (route) => `${ownParameters[route].map((name) => `\`${name}\``).join(', ')} of \`${routes[route]}\``,
  );
  return `${sections.join('\n\n')}\n\nThe same for all providers: ${own.join('; ')}.\n`;
}

/** The features that a case needs, for tests that no feature is missing here. */
export const coveredFeatures: readonly TextFeature[] = [
  ...neededFeatures({}, [{ images: [{ detail: 'low' }] }]),
  ...parameterCases.map(({ name }) => name as TextFeature),
];
