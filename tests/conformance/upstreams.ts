import type { Reasoning } from '../../plugins/svc/kit/reasoning.ts';
import type { AiParamName } from '../../plugins/svc/kit/ai-params.ts';
import { validResponsesRequest } from './responses-schema.ts';
import { requestValidator, sampleParams, type Upstream, type JsonBody } from './upstream.ts';

const key = 'test-key-0123456789';

interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

const messagesOf = (body: JsonBody): readonly ChatMessage[] => body['messages'] as readonly ChatMessage[];

type ChatFacts = Omit<
  Upstream,
  'label' | 'systemOf' | 'turnsOf' | 'assistant' | 'paramsOf' | 'valid' | 'key' | 'modelsPath'
> &
  Partial<Upstream> &
  Pick<Upstream, 'label'>;

/** What all that speak Chat Completions share. */
function chatUpstream(facts: ChatFacts): Upstream {
  return {
    key: ['authorization', `Bearer ${key}`],
    modelsPath: /\/models$/,
    systemOf: (body) => messagesOf(body).find(({ role }) => role === 'system')?.content,
    turnsOf: (body) =>
      messagesOf(body)
        .filter(({ role }) => role !== 'system')
        .map(({ role, content }) => [role, content] as const),
    assistant: 'assistant',
    paramsOf: ({ model: _model, messages: _messages, ...params }) => params,
    valid: requestValidator('openai', 'CreateChatCompletionRequest'),
    ...facts,
  };
}

/** `wire` of an upstream that takes the named keys under their own names. */
function sameNames(changes: Partial<Record<AiParamName, JsonBody | null>>): Upstream['wire'] {
  const same = Object.fromEntries(
    Object.entries(sampleParams).map(([name, value]) => [name, { [name]: value }]),
  ) as Record<AiParamName, JsonBody>;
  return { ...same, ...changes };
}

const openAiWire = sameNames({ top_k: null, reasoning_effort: null });

/** What a vendor of Chat Completions returns of its reasoning, which has no item. */
const chatReasoning = (streamed: string) => ({
  whole: [{ text: greets, format: 'chat' as const }],
  streamed: [{ text: streamed, format: 'chat' as const }],
});
const greets = 'The user greets in French.';

const thought = (thinking: string, signature: string): Reasoning[] => [
  { text: thinking, item: { type: 'thinking', thinking, signature }, format: 'messages' },
];
const responsesWire = {
  ...openAiWire,
  max_completion_tokens: { max_output_tokens: 200 },
  frequency_penalty: null,
  presence_penalty: null,
  stop: null,
  seed: null,
};

type ResponsesFacts = Pick<Upstream, 'id' | 'label' | 'settings' | 'origin' | 'model' | 'generatePath' | 'listed'>;

/** What all share that speak the Responses API. */
function responsesUpstream({ settings, ...facts }: ResponsesFacts): Upstream {
  const turnsOf = (body: JsonBody) => body['input'] as readonly ChatMessage[];
  return {
    ...facts,
    format: 'responses',
    settings: { ...settings, api_key: key, api: 'responses' },
    key: ['authorization', `Bearer ${key}`],
    modelsPath: /\/models$/,
    answeredBy: 'model-2026-01-01',
    streamMembers: { stream: true },
    streamError: [
      'event: error\ndata: {"type":"error","sequence_number":9,"code":"server_error","message":"The server had an error","param":null}\n\n',
      502,
    ],
    systemOf: (body) => body['instructions'] ?? turnsOf(body).find(({ role }) => role === 'system')?.content,
    turnsOf: (body) =>
      turnsOf(body)
        .filter(({ role }) => role !== 'system')
        .map(({ role, content }) => [role, content] as const),
    assistant: 'assistant',
    paramsOf: ({ model: _model, input: _input, store: _store, ...params }) => params,
    wire: responsesWire,
    valid: validResponsesRequest,
  };
}

const claude: Upstream = {
  id: 'claude',
  label: 'Claude',
  settings: { api_key: key, base_url: 'https://api.anthropic.com' },
  origin: 'https://api.anthropic.com',
  model: 'claude-sonnet-4-20250514',
  generatePath: '/v1/messages',
  streamMembers: { stream: true },
  streamError: [
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    529,
  ],
  modelsPath: /^\/v1\/models\b/,
  reasoning: {
    whole: thought(greets, 'EqQBCgIYAhIM'),
    streamed: thought('A greeting.', 'EqQB'),
  },
  key: ['x-api-key', key],
  answeredBy: 'claude-sonnet-4-5-20250929',
  listed: ['claude-sonnet-5-5', 'claude-haiku-4-5-20251001'],
  systemOf: (body) => body['system'],
  turnsOf: (body) => messagesOf(body).map(({ role, content }) => [role, content] as const),
  assistant: 'assistant',
  paramsOf: ({ model: _model, messages: _messages, system: _system, max_tokens, ...params }) =>
    max_tokens === 4096 ? params : { ...params, max_tokens },
  wire: {
    temperature: { temperature: 0.4 },
    max_completion_tokens: { max_tokens: 200 },
    top_p: { top_p: 0.9 },
    frequency_penalty: null,
    presence_penalty: null,
    stop: { stop_sequences: ['END', 'STOP'] },
    seed: null,
    top_k: { top_k: 40 },
    reasoning_effort: { thinking: { type: 'enabled', budget_tokens: 2048 }, max_tokens: 6144 },
  },
  valid: requestValidator('anthropic', 'CreateMessageParams'),
};

interface Content {
  readonly role: string;
  readonly parts: readonly { readonly text: string }[];
}

const google: Upstream = {
  id: 'google',
  reasoning: { whole: [{ text: greets }], streamed: [{ text: '**Greeting**' }] },
  label: 'Google',
  settings: { api_key: key, base_url: 'https://generativelanguage.googleapis.com' },
  origin: 'https://generativelanguage.googleapis.com',
  model: 'gemini-2.5-flash',
  generatePath: '/v1beta/models/gemini-2.5-flash:generateContent',
  streamPath: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  streamMembers: {},
  streamError: [
    'data: {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}\r\n\r\n',
    503,
  ],
  modelsPath: /^\/v1beta\/models\b/,
  key: ['x-goog-api-key', key],
  answeredBy: 'gemini-2.5-flash',
  listed: ['gemini-3.5-flash', 'gemini-embedding-001'],
  systemOf: (body) => (body['systemInstruction'] as Content | undefined)?.parts[0]?.text,
  turnsOf: (body) =>
    (body['contents'] as readonly Content[]).map(
      ({ role, parts }) => [role, parts.map(({ text }) => text).join('|')] as const,
    ),
  assistant: 'model',
  paramsOf: (body) => (body['generationConfig'] ?? {}) as JsonBody,
  wire: {
    temperature: { temperature: 0.4 },
    max_completion_tokens: { maxOutputTokens: 200 },
    top_p: { topP: 0.9 },
    frequency_penalty: { frequencyPenalty: 0.5 },
    presence_penalty: { presencePenalty: -0.5 },
    stop: { stopSequences: ['END', 'STOP'] },
    seed: { seed: 7 },
    top_k: { topK: 40 },
    reasoning_effort: { thinkingConfig: { thinkingBudget: 1024 } },
  },
  valid: requestValidator('gemini', 'GenerateContentRequest', ['model']),
};

/** All eight, and besides the other interfaces of OpenAI, Azure and xAI. */
export const upstreams: readonly Upstream[] = [
  chatUpstream({
    id: 'openai',
    label: 'OpenAI',
    settings: { api_key: key, base_url: 'https://api.openai.com/v1', api: 'chat' },
    origin: 'https://api.openai.com',
    model: 'gpt-4.1',
    generatePath: '/v1/chat/completions',
    answeredBy: 'gpt-4.1-2025-04-14',
    listed: ['gpt-4.1', 'gpt-5.6-terra', 'text-embedding-3-small'],
    wire: openAiWire,
  }),
  chatUpstream({
    id: 'azure',
    label: 'Azure',
    settings: { api_key: key, base_url: 'https://example.openai.azure.com/', api_version: 'v1', api: 'chat' },
    origin: 'https://example.openai.azure.com',
    model: 'gpt-4.1',
    generatePath: '/openai/v1/chat/completions',
    answeredBy: 'gpt-4.1-2025-04-14',
    listed: ['gpt-4.1-2025-04-14'],
    wire: openAiWire,
  }),
  chatUpstream({
    id: 'azure',
    label: 'Azure',
    settings: { api_key: key, base_url: 'https://example.openai.azure.com', api_version: '2024-10-21' },
    origin: 'https://example.openai.azure.com',
    model: 'gpt-4.1',
    generatePath: '/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21',
    modelsPath: /^\/openai\/models\?api-version=2024-10-21$/,
    key: ['api-key', key],
    answeredBy: 'gpt-4.1-2025-04-14',
    listed: ['gpt-4.1-2025-04-14'],
    wire: openAiWire,
  }),
  google,
  chatUpstream({
    id: 'openrouter',
    reasoning: chatReasoning('Thinking aloud.'),
    label: 'OpenRouter',
    settings: { api_key: key, base_url: 'https://openrouter.ai/api/v1' },
    origin: 'https://openrouter.ai',
    model: 'openai/gpt-4.1',
    generatePath: '/api/v1/chat/completions',
    answeredBy: 'openai/gpt-4.1',
    listed: ['openai/gpt-4.1'],
    wire: sameNames({ max_completion_tokens: { max_tokens: 200 }, reasoning_effort: { reasoning: { effort: 'low' } } }),
  }),
  claude,
  chatUpstream({
    id: 'deepseek',
    reasoning: chatReasoning('Hm. So.'),
    label: 'DeepSeek',
    settings: { api_key: key, base_url: 'https://api.deepseek.com/v1' },
    origin: 'https://api.deepseek.com',
    model: 'deepseek-chat',
    generatePath: '/v1/chat/completions',
    answeredBy: 'deepseek-chat',
    listed: ['deepseek-flash', 'deepseek-v4-pro'],
    wire: sameNames({ max_completion_tokens: { max_tokens: 200 }, seed: null, top_k: null }),
  }),
  chatUpstream({
    id: 'xai',
    label: 'xAI',
    settings: { api_key: key, base_url: 'https://api.x.ai/v1', api: 'chat' },
    origin: 'https://api.x.ai',
    model: 'grok-3',
    generatePath: '/v1/chat/completions',
    answeredBy: 'grok-3',
    listed: ['grok-4.3', 'grok-4.5'],
    wire: sameNames({ top_k: null, reasoning_effort: null }),
  }),
  chatUpstream({
    id: 'ollama',
    label: 'Ollama',
    settings: { base_url: 'http://127.0.0.1:11434/v1' },
    origin: 'http://127.0.0.1:11434',
    model: 'llama3.2',
    generatePath: '/v1/chat/completions',
    key: ['authorization', 'Bearer ollama'],
    answeredBy: 'llama3.2',
    listed: ['llama3.2:latest', 'qwen3:8b'],
    wire: sameNames({ max_completion_tokens: { max_tokens: 200 }, top_k: null }),
  }),
  responsesUpstream({
    id: 'openai',
    label: 'OpenAI',
    settings: { base_url: 'https://api.openai.com/v1' },
    origin: 'https://api.openai.com',
    model: 'gpt-4.1',
    generatePath: '/v1/responses',
    listed: ['gpt-4.1', 'gpt-5.6-terra', 'text-embedding-3-small'],
  }),
  responsesUpstream({
    id: 'azure',
    label: 'Azure',
    settings: { base_url: 'https://example.openai.azure.com/', api_version: 'v1' },
    origin: 'https://example.openai.azure.com',
    model: 'gpt-4.1',
    generatePath: '/openai/v1/responses',
    listed: ['gpt-4.1-2025-04-14'],
  }),
  responsesUpstream({
    id: 'xai',
    label: 'xAI',
    settings: { base_url: 'https://api.x.ai/v1' },
    origin: 'https://api.x.ai',
    model: 'grok-3',
    generatePath: '/v1/responses',
    listed: ['grok-4.3', 'grok-4.5'],
  }),
];
