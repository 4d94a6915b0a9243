import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { AzureOpenAI } from 'openai';

export interface Asked {
  readonly text: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  /** Why it ended, in the provider's word. */
  readonly finish: string;
}

export interface Ask {
  readonly model: string;
  readonly prompt: string;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
}

/** One provider reached through its real SDK, as an application would. */
export interface Speaker {
  readonly name: string;
  readonly label: string;
  readonly model: string;
  ask(url: string, ask: Ask): Promise<Asked>;
  stream(url: string, ask: Ask): Promise<Asked>;
  models(url: string): Promise<string[]>;
  /** Whether the format has a place for a seed. */
  readonly seeded: boolean;
}

type Client = (url: string) => OpenAI;

const quiet = { apiKey: 'sandbox', maxRetries: 0, logLevel: 'off' } as const;

function chatBody({ model, prompt, system, maxTokens, stop, seed }: Ask) {
  return {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user' as const, content: prompt },
    ],
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
    ...(stop && { stop: [...stop] }),
    ...(seed !== undefined && { seed }),
  };
}

function chatSpeaker(init: { name: string; label: string; model: string; client: Client }): Speaker {
  return {
    ...init,
    seeded: true,
    ask: async (url, ask) => {
      const answer = await init.client(url).chat.completions.create(chatBody(ask));
      const choice = answer.choices[0]!;
      return {
        text: choice.message.content ?? '',
        model: answer.model,
        input: answer.usage!.prompt_tokens,
        output: answer.usage!.completion_tokens,
        finish: choice.finish_reason,
      };
    },
    stream: async (url, ask) => {
      const stream = await init
        .client(url)
        .chat.completions.create({ ...chatBody(ask), stream: true, stream_options: { include_usage: true } });
      let asked: Asked = { text: '', model: '', input: 0, output: 0, finish: '' };
      for await (const chunk of stream) {
        const choice = chunk.choices[0];
        asked = {
          text: asked.text + (choice?.delta.content ?? ''),
          model: chunk.model,
          input: chunk.usage?.prompt_tokens ?? asked.input,
          output: chunk.usage?.completion_tokens ?? asked.output,
          finish: choice?.finish_reason ?? asked.finish,
        };
      }
      return asked;
    },
    models: async (url) => (await init.client(url).models.list()).data.map(({ id }) => id),
  };
}

const openAiAt =
  (path: string): Client =>
  (url) =>
    new OpenAI({ ...quiet, baseURL: url + path });

const claude = (url: string): Anthropic =>
  new Anthropic({
    apiKey: null,
    defaultHeaders: { 'x-api-key': 'sandbox', 'anthropic-version': '2023-06-01' },
    baseURL: `${url}/claude`,
    maxRetries: 0,
    logLevel: 'off',
  });

const claudeBody = ({ model, prompt, system, maxTokens = 1000, stop }: Ask) => ({
  model,
  max_tokens: maxTokens,
  messages: [{ role: 'user' as const, content: prompt }],
  ...(system !== undefined && { system }),
  ...(stop && { stop_sequences: [...stop] }),
});

const claudeSpeaker: Speaker = {
  name: 'claude',
  label: 'Claude',
  model: 'claude-sonnet-5-5',
  seeded: false,
  ask: async (url, ask) => {
    const { content, model, usage, stop_reason } = await claude(url).messages.create(claudeBody(ask));
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      model,
      input: usage.input_tokens,
      output: usage.output_tokens,
      finish: String(stop_reason),
    };
  },
  stream: async (url, ask) => {
    const message = await claude(url).messages.stream(claudeBody(ask)).finalMessage();
    return {
      text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      model: message.model,
      input: message.usage.input_tokens,
      output: message.usage.output_tokens,
      finish: String(message.stop_reason),
    };
  },
  models: async (url) => (await claude(url).models.list()).data.map(({ id }) => id),
};

const google = (url: string): GoogleGenAI =>
  new GoogleGenAI({ apiKey: 'sandbox', httpOptions: { baseUrl: `${url}/google` } });

const googleBody = ({ model, prompt, system, maxTokens, stop, seed }: Ask) => ({
  model,
  contents: [{ role: 'user', parts: [{ text: prompt }] }],
  config: {
    ...(system !== undefined && { systemInstruction: system }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(stop && { stopSequences: [...stop] }),
    ...(seed !== undefined && { seed }),
  },
});

const googleSpeaker: Speaker = {
  name: 'google',
  label: 'Google',
  model: 'gemini-3.5-flash',
  seeded: true,
  ask: async (url, ask) => {
    const answer = await google(url).models.generateContent(googleBody(ask));
    const usage = answer.usageMetadata!;
    return {
      text: answer.text ?? '',
      model: String(answer.modelVersion),
      input: usage.promptTokenCount!,
      output: usage.candidatesTokenCount!,
      finish: String(answer.candidates![0]!.finishReason),
    };
  },
  stream: async (url, ask) => {
    let asked: Asked = { text: '', model: '', input: 0, output: 0, finish: '' };
    for await (const chunk of await google(url).models.generateContentStream(googleBody(ask))) {
      const usage = chunk.usageMetadata!;
      asked = {
        text: asked.text + (chunk.text ?? ''),
        model: String(chunk.modelVersion),
        input: usage.promptTokenCount!,
        output: usage.candidatesTokenCount!,
        finish: chunk.candidates![0]!.finishReason ?? asked.finish,
      };
    }
    return asked;
  },
  models: async (url) => {
    const ids: string[] = [];
    for await (const model of await google(url).models.list()) ids.push(String(model.name).replace('models/', ''));
    return ids;
  },
};

const azureClassic: Client = (url) =>
  new AzureOpenAI({ ...quiet, endpoint: `${url}/azure`, apiVersion: '2024-10-21', deployment: 'gpt-4.1-mini' });
const azureV1: Client = (url) => new OpenAI({ ...quiet, baseURL: `${url}/azure/openai/v1` });

export const speakers: readonly Speaker[] = [
  chatSpeaker({ name: 'openai', label: 'OpenAI', model: 'gpt-4o-mini', client: openAiAt('/openai/v1') }),
  chatSpeaker({
    name: 'openrouter',
    label: 'OpenRouter',
    model: 'openai/gpt-5.4-mini',
    client: openAiAt('/openrouter/api/v1'),
  }),
  chatSpeaker({ name: 'deepseek', label: 'DeepSeek', model: 'deepseek-chat', client: openAiAt('/deepseek/v1') }),
  chatSpeaker({ name: 'xai', label: 'xAI', model: 'grok-4-fast-non-reasoning', client: openAiAt('/xai/v1') }),
  chatSpeaker({ name: 'ollama', label: 'Ollama', model: 'llama3.2', client: openAiAt('/ollama/v1') }),
  chatSpeaker({ name: 'azure v1', label: 'Azure', model: 'gpt-4.1-mini', client: azureV1 }),
  chatSpeaker({ name: 'azure classic', label: 'Azure', model: 'gpt-4.1-mini', client: azureClassic }),
  claudeSpeaker,
  googleSpeaker,
];
