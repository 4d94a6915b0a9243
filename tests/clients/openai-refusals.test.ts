import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
import { startService, restKey, type Service } from '../contract/service.ts';
import { completion } from '../contract/upstream.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
const model = 'openai/gpt-4o-mini';
const declining = 'I cannot help with that.';
const stream = (...chunks: object[]): string =>
  [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join('');
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});

describe('refusals at the OpenAI-compatible routes', () => {
  let service: Service;
  let client: OpenAI;
  before(async () => {
    service = await startService();
    client = new OpenAI({ apiKey: restKey, baseURL: `${service.host.url}/wp-json/svc-openai/v1`, maxRetries: 0 });
  });
  after(() => service.stop());

  const answering = (message: object, finish_reason = 'stop') =>
    service.upstream.answer({ body: { ...completion, choices: [{ index: 0, message, finish_reason }] } });
  const failing = (status: number, error: object) => service.upstream.answer({ status, body: { error } });
  const failure = async (call: PromiseLike<unknown>): Promise<APIError> => {
    try {
      await call;
    } catch (error) {
      if (error instanceof APIError) return error;
      throw error;
    }
    throw new Error('It did not fail.');
  };

  it('of the model are messages with a refusal, and counted', async () => {
    answering({ role: 'assistant', content: null, refusal: declining });
    const { choices, usage } = await client.chat.completions.create({ model, messages });
    expect(choices[0]?.message).to.deep.include({ content: null, refusal: declining });
    expect(choices[0]?.finish_reason).to.equal('stop');
    expect(usage).to.include({ prompt_tokens: 7, completion_tokens: 3 });
  });

  it('are what chat.completions.parse returns', async () => {
    answering({ role: 'assistant', content: null, refusal: declining });
    const schema = {
      type: 'json_schema' as const,
      json_schema: { name: 'a', strict: true, schema: { type: 'object', properties: {}, additionalProperties: false } },
    };
    const { choices } = await client.chat.completions.parse({ model, messages, response_format: schema });
    expect(choices[0]?.message).to.include({ refusal: declining, parsed: null });
  });

  it('are streamed as delta.refusal, also after a part of the text', async () => {
    for (const before of ['', 'Well, ']) {
      service.upstream.answer({
        headers: { 'content-type': 'text/event-stream' },
        body: stream(
          chunk({ role: 'assistant', content: before }),
          chunk({ refusal: 'I cannot ' }),
          chunk({ refusal: 'help with that.' }),
          chunk({}, 'stop'),
        ),
      });
      const whole = await client.chat.completions.stream({ model, messages }).finalChatCompletion();
      expect(whole.choices[0]?.message).to.deep.include({ refusal: declining });
      expect(whole.choices[0]?.message.content ?? '').to.equal(before);
      expect(whole.choices[0]?.finish_reason).to.equal('stop');
    }
  });

  it('of tools beside reasoning are met with the effort none, which is named, also in the calls after it', async () => {
    const newest = 'openai/gpt-5.6-terra';
    const call = { id: 'c', type: 'function', function: { name: 'w', arguments: '{}' } };
    const refusal =
      "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    const error = { message: refusal, type: 'invalid_request_error', param: 'reasoning_effort' };
    const called = {
      body: {
        ...completion,
        choices: [{ index: 0, message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }],
      },
    };
    const tools = [{ type: 'function' as const, function: { name: 'w', parameters: { type: 'object' } } }];
    service.upstream.answer({ status: 400, body: { error } }, called);
    for (const attempts of [2, 3]) {
      const { data, response } = await client.chat.completions
        .create({ model: newest, messages, tools })
        .withResponse();
      expect(data.choices[0]?.message.tool_calls?.[0]).to.deep.include({ id: 'c' });
      expect(response.headers.get('x-svc-ignored-params')).to.equal('reasoning_effort');
      expect(service.upstream.requests).to.have.length(attempts);
      expect(service.upstream.requests.at(-1)).to.include({ reasoning_effort: 'none' });
    }
    service.upstream.answer({ status: 400, body: { error } });
    const strict = client.chat.completions.create({ model: newest, messages, tools, reasoning_effort: 'low' });
    expect(await failure(strict)).to.include({ status: 400 });
  });

  it('of a parameter keep the name and the code of the vendor, if they are names', async () => {
    const message = "Unsupported value: 'temperature' does not support 0.2 with this model.";
    failing(400, { message, type: 'invalid_request_error', param: 'temperature', code: 'unsupported_value' });
    const named = await failure(client.chat.completions.create({ model, messages, temperature: 0.2 }));
    expect(named).to.include({ status: 400, param: 'temperature', code: 'unsupported_value' });
    expect(named.message).to.contain(message);
    failing(422, { message, param: '<script>', code: 17 });
    expect(await failure(client.chat.completions.create({ model, messages }))).to.include({
      ...{ status: 400, param: null, code: 'rest_svc_provider_rejected' },
    });
  });

  it('of a filter that withheld the text end with content_filter', async () => {
    answering({ role: 'assistant', content: '' }, 'content_filter');
    const { choices } = await client.chat.completions.create({ model, messages });
    expect(choices[0]).to.deep.include({ finish_reason: 'content_filter' });
  });

  it('of a prompt keep the code, the parameter and the category of Azure', async () => {
    const innererror = {
      code: 'ResponsibleAIPolicyViolation',
      content_filter_result: {
        jailbreak: { detected: true, filtered: true },
        hate: { filtered: false, severity: 'safe' },
      },
    };
    for (const streamed of [false, true]) {
      failing(400, { code: 'content_filter', message: 'Filtered.', param: 'prompt', innererror });
      const error = await failure(client.chat.completions.create({ model, messages, stream: streamed }));
      expect(error).to.include({ status: 400, code: 'content_filter', param: 'prompt', type: 'invalid_request_error' });
      expect(error.message).to.contain('jailbreak');
      expect((error.error as { innererror: unknown }).innererror).to.deep.equal(innererror);
    }
  });

  for (const [code, status, upstream, param] of [
    ['context_length_exceeded', 400, [400, { message: 'prompt is too long: 9 tokens > 8 maximum' }], 'messages'],
    ['model_not_found', 404, [404, { message: 'The model `x` does not exist', code: 'model_not_found' }], 'model'],
  ] as const)
    it(`have OpenAI’s code ${code} and its status`, async () => {
      for (const streamed of [false, true]) {
        failing(upstream[0], upstream[1]);
        const error = await failure(client.chat.completions.create({ model, messages, stream: streamed }));
        expect(error).to.include({ status, code, param });
      }
      failing(upstream[0], upstream[1]);
      const error = await failure(client.embeddings.create({ model: 'openai/text-embedding-3-small', input: 'a' }));
      expect(error).to.include({ status, code });
    });

  it('stay errors of the contract at POST /generate', async () => {
    const request = { provider: 'openai', model: 'gpt-4o-mini', messages };
    const codeOf = async () => {
      const { status, body } = await service.generate(request);
      return [status, body.code, body.data.reason];
    };
    answering({ role: 'assistant', content: null, refusal: declining });
    expect(await codeOf()).to.deep.equal([400, 'rest_svc_provider_rejected', 'refusal']);
    answering({ role: 'assistant', content: '' }, 'content_filter');
    expect(await codeOf()).to.deep.equal([400, 'rest_svc_provider_rejected', 'content_filter']);
    failing(404, { message: 'The model `x` does not exist', code: 'model_not_found' });
    expect(await codeOf()).to.deep.equal([400, 'rest_svc_provider_rejected', 'model_not_found']);
  });
});
