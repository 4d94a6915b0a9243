import { expect } from 'chai';
import type { AiParams } from '../../../plugins/svc/kit/ai-params.ts';
import { openAiParams } from '../../../plugins/svc/providers/chat-completions/openai-models.ts';
import { claudeRequest } from '../../../plugins/svc/providers/claude/claude-request.ts';
import { googleRequest } from '../../../plugins/svc/providers/google/google-request.ts';
import { mapParams } from '../../../plugins/svc/providers/params.ts';
import { provider as azure } from '../../../plugins/svc/providers/azure.provider.ts';
import { provider as deepseek } from '../../../plugins/svc/providers/deepseek.provider.ts';
import { provider as ollama } from '../../../plugins/svc/providers/ollama.provider.ts';
import { provider as xai } from '../../../plugins/svc/providers/xai.provider.ts';
import type { Provider, ProviderSettings } from '../../../plugins/svc/providers/provider.ts';
import { fixturesOf } from '../../conformance/upstream.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';

const messages = [{ role: 'user', content: 'Hello.' }] as const;
const everything: AiParams = {
  temperature: 0.5,
  top_p: 0.9,
  frequency_penalty: 1,
  presence_penalty: 1,
  stop: 'END',
  max_completion_tokens: 3000,
};

/** Body and ignored keys of a call by a provider, answered at once. */
async function sentBy(
  provider: Provider,
  model: string,
  given: AiParams & { readonly settings?: ProviderSettings },
): Promise<{ body: Record<string, unknown>; ignored: readonly string[] }> {
  const { settings, ...params } = given;
  let body: Record<string, unknown> = {};
  const fetch = (async (_url, init) => {
    body = JSON.parse(String(init?.body)) as Record<string, unknown>;
    return Response.json(fixturesOf(provider.id).answer);
  }) as typeof globalThis.fetch;
  const connection = {
    settings: { api_key: 'key', base_url: 'http://127.0.0.1:9/v1', ...settings },
    fetch,
    clock: createFakeClock(),
    log: silentLog,
    timeout: 1000,
  };
  const { ignored } = await provider.text!.generate({ model, system: null, messages, params }, connection);
  const { model: _model, messages: _messages, ...rest } = body;
  return { body: rest, ignored };
}

describe('What OpenAI’s models make of parameters', () => {
  const names = {
    temperature: 'temperature',
    top_p: 'top_p',
    frequency_penalty: 'frequency_penalty',
    presence_penalty: 'presence_penalty',
    stop: 'stop',
    max_completion_tokens: 'max_completion_tokens',
    reasoning_effort: 'reasoning_effort',
  };
  const mapped = (model: string, params: AiParams) =>
    mapParams({ names, byModel: openAiParams }, { params, model, settings: {} });

  for (const model of [
    'o1',
    'o3',
    'o3-mini',
    'o4-mini-2025-04-16',
    'gpt-5',
    'gpt-5-mini',
    'gpt-5.6-terra',
    'gpt-6.1-sol',
    'openai/o3',
  ]) {
    it(`keeps sampling parameters and stop from ${model}, which reasons`, () => {
      const { wire, ignored } = mapped(model, everything);
      expect(wire).to.deep.equal({ max_completion_tokens: 3000 });
      expect(ignored).to.deep.equal(['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'stop']);
    });
  }

  for (const model of ['gpt-4.1', 'gpt-4o-mini', 'chatgpt-4o-latest', 'gpt-5-chat-latest', 'gpt-3.5-turbo']) {
    it(`keeps only reasoning_effort from ${model}, which does not reason`, () => {
      expect(mapped(model, { ...everything, reasoning_effort: 'low' }).ignored).to.deep.equal(['reasoning_effort']);
    });
  }

  it('lets gpt-5.1 and later have temperature and top_p while their effort is none', () => {
    expect(mapped('gpt-5.4', { temperature: 0.5, top_p: 0.9, stop: 'END', reasoning_effort: 'none' })).to.deep.include({
      wire: { temperature: 0.5, top_p: 0.9, reasoning_effort: 'none' },
      ignored: ['stop'],
    });
  });

  for (const [model, asked, sent] of [
    ['o3', 'none', 'low'],
    ['o3', 'minimal', 'low'],
    ['gpt-5', 'none', 'minimal'],
    ['gpt-5.2', 'minimal', 'low'],
    ['gpt-5', 'high', 'high'],
    ['gpt-5', 'xhigh', 'high'],
    ['gpt-5.1', 'max', 'high'],
    ['gpt-5.1-codex-max', 'max', 'xhigh'],
    ['gpt-5.5', 'xhigh', 'xhigh'],
    ['gpt-5.5', 'max', 'xhigh'],
    ['gpt-5.6-terra', 'max', 'max'],
    ['gpt-6', 'max', 'max'],
  ] as const) {
    it(`asks ${model} for effort ${sent} where ${asked} was given, and names a change without refusing it`, () => {
      const changed = asked === sent ? [] : ['reasoning_effort'];
      expect(mapped(model, { reasoning_effort: asked })).to.deep.equal({
        wire: { reasoning_effort: sent },
        ignored: changed,
        lost: [],
      });
    });
  }
});

describe('What Azure’s deployments make of parameters', () => {
  it('knows the model behind a deployment from the settings', async () => {
    const { ignored } = await sentBy(azure, 'thinker', {
      temperature: 0.5,
      settings: { deployments: ['chat', 'thinker = o3'] },
    });
    expect(ignored).to.deep.equal(['temperature']);
  });

  it('writes max_tokens for versions of the classic interface that know no other', async () => {
    const { body } = await sentBy(azure, 'chat', {
      max_completion_tokens: 50,
      settings: { api_version: '2024-06-01' },
    });
    expect(body).to.deep.equal({ max_tokens: 50 });
  });
});

describe('What the other Chat Completions models make of parameters', () => {
  it('leaves out what DeepSeek’s thinking makes ineffective, and names it', async () => {
    const { body, ignored } = await sentBy(deepseek, 'deepseek-flash', everything);
    expect(body).to.deep.equal({ top_p: 0.9, stop: 'END', max_tokens: 3000 });
    expect(ignored).to.deep.equal(['temperature', 'frequency_penalty', 'presence_penalty']);
  });

  it('turns DeepSeek’s thinking off for effort none, and sampling works', async () => {
    const { body, ignored } = await sentBy(deepseek, 'deepseek-flash', { temperature: 0.5, reasoning_effort: 'none' });
    expect([body, ignored]).to.deep.equal([{ temperature: 0.5, thinking: { type: 'disabled' } }, []]);
  });

  it('keeps penalties and stop from xAI’s reasoning models', async () => {
    const { body, ignored } = await sentBy(xai, 'grok-4.5', { ...everything, reasoning_effort: 'minimal' });
    expect(body).to.deep.equal({ temperature: 0.5, top_p: 0.9, max_completion_tokens: 3000, reasoning_effort: 'low' });
    expect(ignored).to.deep.equal(['frequency_penalty', 'presence_penalty', 'stop', 'reasoning_effort']);
  });

  for (const model of ['grok-4', 'grok-4.20-0309-reasoning', 'grok-code-fast-1']) {
    it(`asks ${model} for no effort: it takes none`, async () => {
      expect((await sentBy(xai, model, { reasoning_effort: 'high' })).ignored).to.deep.equal(['reasoning_effort']);
    });
  }

  it('lets xAI’s models that do not reason have everything but an effort', async () => {
    expect(
      (await sentBy(xai, 'grok-4.20-0309-non-reasoning', { ...everything, reasoning_effort: 'low' })).ignored,
    ).to.deep.equal(['reasoning_effort']);
  });

  it('asks Ollama for low effort where minimal was given', async () => {
    expect((await sentBy(ollama, 'qwen3', { reasoning_effort: 'minimal' })).body).to.deep.equal({
      reasoning_effort: 'low',
    });
  });
});

describe('What Claude’s models make of parameters', () => {
  const sent = (model: string, params: AiParams, settings: ProviderSettings = {}) => {
    const { body, ignored } = claudeRequest({ model, system: null, messages, params }, settings);
    const { model: _model, messages: _messages, ...rest } = body;
    return { body: rest, ignored };
  };

  it('sends a length limit where none is given: Messages asks for one', () => {
    expect(sent('claude-sonnet-4-5', {}).body).to.deep.equal({ max_tokens: 4096 });
  });

  it('cuts temperature to 1, Anthropic’s highest, and says so (D49)', () => {
    expect(sent('claude-sonnet-4-5', { temperature: 1.7 })).to.deep.equal({
      body: { max_tokens: 4096, temperature: 1 },
      ignored: ['temperature'],
    });
  });

  it('drops top_p where temperature is given too, from 4.1 on', () => {
    expect(sent('claude-opus-4-1-20250805', { temperature: 0.5, top_p: 0.9 }).ignored).to.deep.equal(['top_p']);
    expect(sent('claude-3-5-haiku-latest', { temperature: 0.5, top_p: 0.9 }).ignored).to.deep.equal([]);
    expect(sent('claude-sonnet-4-5', { top_p: 0.9 }).ignored).to.deep.equal([]);
  });

  for (const model of [
    'claude-opus-4-7',
    'claude-opus-5',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-fable-5-1',
    'claude-mythos-preview',
  ]) {
    it(`sends ${model} no sampling parameters: it refuses them`, () => {
      expect(sent(model, { temperature: 0.5, top_p: 0.9, top_k: 5 }).ignored).to.deep.equal([
        'temperature',
        'top_p',
        'top_k',
      ]);
    });
  }

  it('sends no sampling parameters to the version of the interface that refuses them', () => {
    expect(sent('claude-sonnet-4-5', { temperature: 0.5 }, { api_version: '2026-10-21' }).ignored).to.deep.equal([
      'temperature',
    ]);
  });

  it('gives manual thinking half of the length limit at most, and leaves temperature out', () => {
    expect(
      sent('claude-sonnet-4-5', { temperature: 0.5, max_completion_tokens: 6000, reasoning_effort: 'high' }),
    ).to.deep.equal({
      body: { max_tokens: 6000, thinking: { type: 'enabled', budget_tokens: 3000 } },
      ignored: ['temperature'],
    });
  });

  it('does not think within a length limit too short for it', () => {
    expect(sent('claude-sonnet-4-5', { max_completion_tokens: 1500, reasoning_effort: 'high' })).to.deep.equal({
      body: { max_tokens: 1500 },
      ignored: ['reasoning_effort'],
    });
  });

  it('keeps temperature while effort is none', () => {
    expect(sent('claude-sonnet-4-5', { temperature: 0.5, reasoning_effort: 'none' })).to.deep.equal({
      body: { max_tokens: 4096, temperature: 0.5 },
      ignored: [],
    });
  });

  it('lets the models from 4.6 on decide how long they think, by an effort', () => {
    expect(sent('claude-opus-4-6', { reasoning_effort: 'minimal' }).body).to.deep.equal({
      max_tokens: 4096,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    });
  });

  it('turns the thinking of models off that can be kept from it, and asks the others for little', () => {
    expect(sent('claude-opus-5', { reasoning_effort: 'none' }).body).to.deep.equal({
      max_tokens: 4096,
      thinking: { type: 'disabled' },
    });
    expect(sent('claude-sonnet-5-5', { reasoning_effort: 'none' }).body).to.deep.equal({
      max_tokens: 4096,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    });
  });

  it('takes no effort for models that do not think', () => {
    expect(sent('claude-3-5-haiku-latest', { reasoning_effort: 'high' }).ignored).to.deep.equal(['reasoning_effort']);
  });
});

describe('What Gemini’s models make of parameters', () => {
  const config = (model: string, params: AiParams) => {
    const { parameters, ignored } = googleRequest({ model, system: null, messages, params }, {});
    return { config: parameters.config, ignored };
  };

  for (const [model, effort, thinkingConfig, ignored] of [
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, []],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24576 }, []],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }, []],
    ['gemini-3-flash-preview', 'minimal', { thinkingLevel: 'MINIMAL' }, []],
    ['gemini-3-flash-preview', 'max', { thinkingLevel: 'HIGH' }, ['reasoning_effort']],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'HIGH' }, ['reasoning_effort']],
    ['gemini-3.8-flash', 'none', { thinkingLevel: 'LOW' }, ['reasoning_effort']],
  ] as const) {
    it(`asks ${model} for ${JSON.stringify(thinkingConfig)} where effort ${effort} was given`, () => {
      expect(config(model, { reasoning_effort: effort })).to.deep.equal({ config: { thinkingConfig }, ignored });
    });
  }

  it('takes no effort for models that do not think', () => {
    expect(config('gemini-2.0-flash', { reasoning_effort: 'low' }).ignored).to.deep.equal(['reasoning_effort']);
  });

  it('makes one content of neighbouring messages of one role', () => {
    const { parameters } = googleRequest(
      {
        model: 'gemini-2.5-flash',
        system: null,
        messages: [
          { role: 'user', content: 'One.' },
          { role: 'user', content: 'Two.' },
          { role: 'assistant', content: 'Three.' },
        ],
        params: {},
      },
      {},
    );
    expect(parameters.contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'One.' }, { text: 'Two.' }] },
      { role: 'model', parts: [{ text: 'Three.' }] },
    ]);
  });
});
