import { restError } from '#plugin-api';
import { expect } from 'chai';
import type { CompatibleProvider } from '../../plugins/svc/providers/compatible-provider.ts';
import { completion } from './upstream.ts';
import { goodRequest, restKey, startService, type Service } from './service.ts';

describe('POST /generate', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  beforeEach(() => {
    service.upstream.answer();
  });
  after(() => service.stop());

  it('answers exactly content, usage, provider and model', async () => {
    const { status, body, headers } = await service.generate(goodRequest);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      content: 'Hello there.',
      usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      provider: 'OpenAI',
      model: 'far-model-0125',
    });
    expect(headers.get('x-svc-ignored-params')).to.equal(null);
    expect(headers.get('x-svc-usage-estimated')).to.equal(null);
    expect(headers.get('x-request-id')).to.be.a('string');
  });

  it('is found by rest_route too', async () => {
    const response = await service.host.fetch('/?rest_route=/svc/v1/generate', {
      method: 'POST',
      headers: { authorization: `Bearer ${restKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(goodRequest),
    });
    expect(response.status).to.equal(200);
  });

  it('estimates the usage where the provider reports none, and says so', async () => {
    service.upstream.answer({ body: { ...completion, usage: undefined } });
    const { status, body, headers } = await service.generate(goodRequest);
    expect(status).to.equal(200);
    expect(headers.get('x-svc-usage-estimated')).to.equal('true');
    for (const count of Object.values(body.usage)) expect(count).to.be.a('number').and.satisfy(Number.isInteger);
    expect(body.usage.total_tokens).to.equal(body.usage.input_tokens + body.usage.output_tokens);
  });

  for (const count of [1e300, 1e12, -1])
    it(`estimates the usage where the provider reports what cannot be: ${String(count)} tokens`, async () => {
      const usage = { prompt_tokens: 1, completion_tokens: count, total_tokens: count };
      service.upstream.answer({ body: { ...completion, usage } });
      const { status, body, headers } = await service.generate(goodRequest);
      expect([status, headers.get('x-svc-usage-estimated')]).to.deep.equal([200, 'true']);
      expect(body.usage.output_tokens).to.be.within(1, 100);
    });

  it('lets system_instruction take precedence and fills in its placeholders', async () => {
    await service.host.options.update('timezone_string', 'UTC');
    await service.generate({
      ...goodRequest,
      system_instruction: 'Today is [date]; you speak to [username].',
      messages: [{ role: 'system', content: 'dropped' }, ...goodRequest.messages],
    });
    const date = new Date(service.clock.now()).toISOString().slice(0, 10);
    const [{ messages }] = service.upstream.requests as [{ messages: { content: string }[] }];
    expect(messages.map((message) => message.content)).to.deep.equal([
      `Today is ${date}; you speak to Guest.`,
      'Hello',
    ]);
  });

  it('fills placeholders in system_instruction alone, not in system messages (contract 4.2)', async () => {
    const system = { role: 'system', content: 'Write [date] and [username] as they are.' };
    await service.generate({ ...goodRequest, messages: [system, ...goodRequest.messages] });
    const [{ messages }] = service.upstream.requests as [{ messages: { content: string }[] }];
    expect(messages[0]?.content).to.equal(system.content);
  });

  it('takes null for an optional member and an empty query parameter for left out (contract 4, D49)', async () => {
    const absent = { system_instruction: null, stream: null, ai_params: null };
    for (const body of [absent, { ai_params: { temperature: null, stop: null, max_completion_tokens: 5 } }])
      expect((await service.generate({ ...goodRequest, ...body })).status).to.equal(200);
    expect((await service.generate({ ...goodRequest, model: null })).body.code).to.equal('rest_missing_callback_param');
    const logs = await service.host.fetch('/wp-json/svc/v1/logs?page=&per_page=&bot_id=&user_search=', {
      headers: { authorization: `Bearer ${restKey}`, origin: 'https://app.example.com' },
    });
    expect(logs.status).to.equal(200);
  });

  it('lets scripts of other sites read its headers (contract 4.6, D49)', async () => {
    const { headers } = await service.host.fetch('/wp-json/svc/v1/logs', {
      headers: { authorization: `Bearer ${restKey}`, origin: 'https://app.example.com' },
    });
    const exposed = headers.get('access-control-expose-headers')?.split(', ');
    expect(exposed).to.include.members([
      'X-SVC-Total',
      'X-SVC-TotalPages',
      'X-SVC-Ignored-Params',
      'X-SVC-Usage-Estimated',
    ]);
  });

  it('leaves it to the model how many completion tokens it has (contract 4.2, D8)', async () => {
    const withLimit = (most: number) => ({ ...goodRequest, ai_params: { max_completion_tokens: most } });
    expect((await service.generate(withLimit(1_000_000))).status).to.equal(200);
    expect((await service.generate(withLimit(10_000_001))).status).to.equal(400);
  });

  it('takes max_tokens as another name, also over a global default, and names unknown keys as ignored', async () => {
    await service.host.options.update('svc_ai_params', { max_completion_tokens: 50, temperature: 0.2 });
    const { status, headers } = await service.generate({
      ...goodRequest,
      ai_params: { max_tokens: 7, temperature: '0.5', unknown_key: 1 },
    });
    await service.host.options.delete('svc_ai_params');
    expect(status).to.equal(200);
    expect(headers.get('x-svc-ignored-params')).to.equal('unknown_key');
    const [request] = service.upstream.requests;
    expect([request?.['max_completion_tokens'] ?? request?.['max_tokens'], request?.['temperature']]).to.deep.equal([
      7, 0.5,
    ]);
  });

  it('writes ignored names that no header can carry in percent-encoding', async () => {
    const { status, headers } = await service.generate({ ...goodRequest, ai_params: { 'a\r\nX-Evil: 1': 1, ключ: 1 } });
    expect(status).to.equal(200);
    expect(headers.get('x-svc-ignored-params')).to.equal('a%0D%0AX-Evil%3A%201, %D0%BA%D0%BB%D1%8E%D1%87');
    expect(headers.get('x-evil')).to.equal(null);
  });

  it('hands the request and the answer to filters of other plugins, without the key in any of them', async () => {
    let seen = '';
    const undoRequest = service.host.hooks.addFilter('svc_text_request', (call, request) => {
      seen = JSON.stringify([call, request.params, request.query, request.json, request.form]);
      return { ...call, messages: [{ role: 'user' as const, content: 'changed' }] };
    });
    const undoResponse = service.host.hooks.addFilter('svc_text_response', async (answer) => ({
      ...answer,
      content: answer.content.toUpperCase(),
    }));
    const { body } = await service.generate(
      { ...goodRequest, svc_api_key: restKey },
      {},
      `?svc_api_key=${encodeURIComponent(restKey)}`,
    );
    undoRequest();
    undoResponse();
    expect(body.content).to.equal('HELLO THERE.');
    expect(service.upstream.requests[0]?.['messages']).to.deep.equal([{ role: 'user', content: 'changed' }]);
    expect(seen).to.contain('gpt-4o-mini').and.not.contain(restKey);
  });

  it('offers a provider that another plugin adds, and refuses it once it is gone', async () => {
    const echo = {
      id: 'echo',
      label: 'Echo',
      required: [],
      settings: { type: 'object' as const, properties: {} },
      text: {
        params: {},
        generate: async (request: { messages: readonly { content: string }[]; model: string }) => ({
          content: request.messages.at(-1)?.content ?? '',
          usage: null,
          model: request.model,
          ignored: [],
        }),
      },
      listModels: async () => [],
    };
    const undo = service.host.hooks.addFilter('svc_providers', (providers) => [...providers, echo]);
    const offered = await service.generate({ ...goodRequest, provider: 'echo' });
    expect([offered.status, offered.body.content, offered.body.provider]).to.deep.equal([200, 'Hello', 'Echo']);
    undo();
    const gone = await service.generate({ ...goodRequest, provider: 'echo' });
    expect([gone.status, gone.body.code]).to.deep.equal([400, 'rest_invalid_param']);
    expect(gone.body.data.params.provider).to.equal(
      'provider is not one of openai, azure, google, openrouter, claude, deepseek, xai, and ollama.',
    );
  });

  it('goes through a provider that a plugin describes to the factory', async () => {
    const { host, upstream } = service;
    const factory = host.services.get('svc.providers');
    const description: CompatibleProvider = {
      id: 'acme',
      label: 'Acme',
      address: upstream.url,
      models: { model: 'acme-1', embedding_model: 'acme-embed' },
      params: { max_completion_tokens: 'max_tokens' },
      settings: { project: { type: 'string', title: 'Project', default: 'main' } },
      headers: ({ project }) => ({ 'x-project': typeof project === 'string' ? project : 'none' }),
    };
    expect(factory.openAiCompatible(description)).to.equal(factory.openAiCompatible(description));
    const undo = host.hooks.addFilter('svc_providers', (providers) => [
      ...providers,
      factory.openAiCompatible(description),
    ]);
    expect((await service.generate({ ...goodRequest, provider: 'acme' })).body.code).to.equal(
      'rest_svc_provider_not_configured',
    );
    await host.cli('svc', 'provider', 'set', 'acme', '--api-key=acme-key-1');
    upstream.answer({});
    const { status, headers, body } = await service.generate({
      ...{ provider: 'acme', model: 'acme-1', messages: goodRequest.messages },
      ai_params: { max_completion_tokens: 9, temperature: 0.5 },
    });
    expect([status, body.content, body.provider]).to.deep.equal([200, 'Hello there.', 'Acme']);
    expect(headers.get('x-svc-ignored-params')).to.equal('temperature');
    expect(upstream.requests).to.deep.equal([
      { model: 'acme-1', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9 },
    ]);
    const { authorization, 'x-project': project } = upstream.headers();
    expect([authorization, project]).to.deep.equal(['Bearer acme-key-1', 'main']);
    undo();
    for (const wrong of [{ address: 'api.acme.example' }, { models: { model: '' } }])
      expect(() => factory.openAiCompatible({ ...description, ...wrong })).to.throw(/^The .*'acme'/);
  });

  it('answers 502 when a provider of a plugin refuses as its upstream did, and tells its author', async () => {
    const { host } = service;
    const factory = host.services.get('svc.providers');
    const made = factory.openAiCompatible({
      ...{ id: 'refusing', label: 'Refusing', address: 'http://127.0.0.1:1/v1', models: { model: 'refusing-1' } },
    });
    let thrown: Error = restError(401, 'acme_key', 'The key of Acme is wrong.');
    const generate = () => Promise.reject(thrown);
    const undo = host.hooks.addFilter('svc_providers', (providers) => [
      ...providers,
      { ...made, ...(made.text && { text: { ...made.text, generate, stream: generate } }) },
    ]);
    try {
      await host.cli('svc', 'provider', 'set', 'refusing', '--api-key=refusing-key-1');
      const { messages } = goodRequest;
      const send = () => service.generate({ provider: 'refusing', model: 'refusing-1', messages });
      expect((await send()).status).to.equal(502);
      expect(host.logged.filter((line) => line.includes('provider_error_foreign'))).to.have.length(1);
      thrown = factory.error('auth', 'the key was refused.', { status: 401 });
      expect((await send()).status).to.equal(502);
      expect(host.logged.filter((line) => line.includes('provider_error_foreign'))).to.have.length(1);
      expect(() => factory.error('broken' as 'auth', 'no')).to.throw(
        /'broken' is no kind of error\. Use one of: auth,/,
      );
    } finally {
      undo();
    }
  });

  it('answers through each of the eight providers while the sandbox is on', async () => {
    await service.host.options.update('svc_sandbox', true);
    const labels: Record<string, string> = {
      azure: 'Azure',
      google: 'Google',
      openrouter: 'OpenRouter',
      claude: 'Claude',
      deepseek: 'DeepSeek',
      xai: 'xAI',
      ollama: 'Ollama',
    };
    for (const [provider, label] of Object.entries(labels)) {
      const { status, body } = await service.generate({
        provider,
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: 'echo: all well' }],
      });
      expect([provider, status, body.content, body.provider]).to.deep.equal([provider, 200, 'all well', label]);
    }
    const warm = { ...goodRequest, provider: 'claude', model: 'claude-sonnet-4-5', ai_params: { temperature: 1.5 } };
    const { headers } = await service.generate(warm);
    expect(headers.get('x-svc-ignored-params'), 'Anthropic ends at 1 (contract 4.2)').to.equal('temperature');
    await service.host.options.update('svc_sandbox', false);
  });

  it('describes its arguments to OPTIONS', async () => {
    const response = await service.host.fetch('/wp-json/svc/v1/generate', { method: 'OPTIONS' });
    const { endpoints } = (await response.json()) as {
      endpoints: { args: Record<string, { enum?: string[]; required: boolean }> }[];
    };
    expect(endpoints[0]?.args['provider']?.enum).to.deep.equal([
      'openai',
      'azure',
      'google',
      'openrouter',
      'claude',
      'deepseek',
      'xai',
      'ollama',
    ]);
    expect(endpoints[0]?.args['messages']?.required).to.equal(true);
  });
});
