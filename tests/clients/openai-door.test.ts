import { expect } from 'chai';
import OpenAI, { type APIError } from 'openai';
import { failureOf } from '../helpers/failure-of.ts';
import { restKey, startDoor, type Door } from './openai-door.ts';

/** A model of each provider that takes tools and JSON Schemas where its provider does. */
const models = [
  'openai/gpt-4.1',
  'azure/gpt-4.1',
  'google/gemini-2.5-flash',
  'openrouter/openai/gpt-4.1',
  'claude/claude-sonnet-4-5',
  'deepseek/deepseek-chat',
  'xai/grok-3',
  'ollama/llama3.2',
] as const;

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

const recipe = {
  type: 'object',
  properties: { title: { type: 'string' }, minutes: { type: 'integer', minimum: 1 } },
  required: ['title', 'minutes'],
  additionalProperties: false,
};

describe('the client openai', () => {
  let door: Door;
  let client: OpenAI;
  before(async () => {
    door = await startDoor();
    client = new OpenAI({ apiKey: restKey, baseURL: door.url, maxRetries: 0 });
  });
  after(() => door.host.stop());

  it('has the request id of texts, responses and errors', async () => {
    const ask = { model: 'openai/gpt-4.1', messages: [{ role: 'user' as const, content: 'Hi' }] };
    const asked = client.chat.completions.create(ask);
    const { response } = await asked.withResponse();
    expect((await asked)._request_id).to.equal(response.headers.get('x-request-id'));
    expect((await client.responses.create({ model: ask.model, input: 'Hi' }))._request_id).to.match(/^[\w-]{8,}$/);
    const error = (await failureOf(client.chat.completions.create({ ...ask, model: 'nobody/m' }))) as APIError;
    expect(error.requestID).to.match(/^[\w-]{8,}$/);
  });

  for (const model of models) {
    describe(`with ${model}`, () => {
      const ask = { model, messages: [{ role: 'user' as const, content: 'echo: Bonjour, ça va ? 🌍' }] };

      it('gets a text with its usage', async () => {
        const { choices, usage, object } = await client.chat.completions.create(ask);
        expect([object, choices[0]?.message.content, choices[0]?.finish_reason]).to.deep.equal([
          'chat.completion',
          'Bonjour, ça va ? 🌍',
          'stop',
        ]);
        expect(usage?.total_tokens).to.equal(usage!.prompt_tokens + usage!.completion_tokens);
      });

      it('gets the same text in pieces, and the usage when it asks for it', async () => {
        const stream = await client.chat.completions.create({
          ...ask,
          stream: true,
          stream_options: { include_usage: true },
        });
        let text = '';
        let total = 0;
        const reasons: (string | null | undefined)[] = [];
        for await (const chunk of stream) {
          text += chunk.choices[0]?.delta.content ?? '';
          total += chunk.usage?.total_tokens ?? 0;
          reasons.push(chunk.choices[0]?.finish_reason);
        }
        expect(text).to.equal('Bonjour, ça va ? 🌍');
        expect(total).to.be.above(0);
        expect(reasons.filter(Boolean)).to.deep.equal(['stop']);
      });

      it('calls a function and answers with its result', async () => {
        const messages: OpenAI.ChatCompletionMessageParam[] = [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Oslo' },
        ];
        const called = await client.chat.completions.create({ model, messages, tools: [weather] });
        const message = called.choices[0]!.message;
        const [call] = message.tool_calls ?? [];
        if (call?.type !== 'function') throw new Error('No function was called.');
        expect(called.choices[0]?.finish_reason).to.equal('tool_calls');
        expect([call.function.name, JSON.parse(call.function.arguments)]).to.deep.equal([
          'get_weather',
          { city: 'Oslo' },
        ]);
        const result = { role: 'tool' as const, tool_call_id: call.id, content: '{"degrees": 4}' };
        const answered = await client.chat.completions.create({
          model,
          messages: [...messages, message, result],
          tools: [weather],
        });
        expect(answered.choices[0]?.message.content).to.be.a('string').and.not.equal('');
      });

      it('calls a function in a stream', async () => {
        const stream = client.chat.completions.stream({
          model,
          messages: [{ role: 'user', content: 'Oslo' }],
          tools: [weather],
        });
        const message = await stream.finalMessage();
        const [call] = message.tool_calls ?? [];
        expect(call?.type === 'function' && JSON.parse(call.function.arguments)).to.deep.equal({ city: 'Oslo' });
      });

      it('parses JSON of a schema', async () => {
        const request = client.chat.completions.parse({
          model,
          messages: [{ role: 'user', content: 'Soup' }],
          response_format: { type: 'json_schema', json_schema: { name: 'recipe', schema: recipe } },
        });
        expect((await request).choices[0]?.message.parsed).to.deep.equal({ title: 'Soup', minutes: 1 });
      });
    });
  }

  it('lists models, and finds one', async () => {
    const ids = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).to.include('claude/claude-sonnet-5-5');
    expect((await client.models.retrieve('claude/claude-sonnet-5-5')).owned_by).to.equal('claude');
    expect(((await failureOf(client.models.retrieve('nothing'))) as { status: number }).status).to.equal(404);
  });

  it('takes a bare model for one of the default provider', async () => {
    const { choices } = await client.chat.completions.create({
      model: 'gpt-4.1',
      messages: [{ role: 'user', content: 'echo: Hello' }],
    });
    expect(choices[0]?.message.content).to.equal('Hello');
  });

  it('shows images to a model', async () => {
    const dot = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
    const { choices } = await client.chat.completions.create({
      model: 'claude/claude-sonnet-5-5',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/gif;base64,${dot}` } },
          ],
        },
      ],
    });
    expect(choices[0]?.message.content).to.contain('[image/gif, 42 bytes]');
  });

  for (const encoding of ['float', 'base64', undefined] as const)
    it(`gets embeddings as ${encoding ?? 'it asks by default'}`, async () => {
      for (const model of ['openai/text-embedding-3-small', 'google/gemini-embedding-001', 'ollama/nomic-embed-text']) {
        const { data, usage } = await client.embeddings.create({
          model,
          input: ['One.', 'Two.'],
          ...(encoding && { encoding_format: encoding }),
        });
        expect(data).to.have.length(2);
        const [vector] = data.map(({ embedding }) => embedding as unknown);
        if (encoding === 'base64') expect(Buffer.from(vector as string, 'base64').length % 4).to.equal(0);
        else expect((vector as number[])[0]).to.be.a('number');
        expect(usage.prompt_tokens).to.be.above(0);
      }
    });

  it('gets images', async () => {
    for (const model of ['openai/gpt-image-2', 'google/gemini-2.5-flash-image']) {
      const { data } = await client.images.generate({ model, prompt: 'A lighthouse' });
      expect(Buffer.from(data![0]!.b64_json!, 'base64').length, model).to.be.above(50);
    }
  });

  it('is refused with a wrong key', async () => {
    const wrong = new OpenAI({ apiKey: 'wrong', baseURL: door.url, maxRetries: 0 });
    const error = (await failureOf(wrong.models.list())) as InstanceType<typeof OpenAI.APIError>;
    expect([error.status, error.code]).to.deep.equal([401, 'invalid_api_key']);
  });
});
