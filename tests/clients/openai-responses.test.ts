import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { restKey, startDoor, type Door } from './openai-door.ts';

type Input = OpenAI.Responses.ResponseInputItem[];

/** A model of each provider. */
const models: readonly (readonly [model: string, takesSchemas: boolean])[] = [
  ['openai/gpt-4.1', true],
  ['azure/gpt-4.1', true],
  ['google/gemini-2.5-flash', true],
  ['openrouter/openai/gpt-4.1', true],
  ['claude/claude-sonnet-4-5', true],
  ['deepseek/deepseek-chat', false],
  ['xai/grok-3', true],
  ['ollama/llama3.2', true],
];

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};
const recipe = {
  type: 'object',
  properties: { title: { type: 'string' }, minutes: { type: 'integer', minimum: 1 } },
  required: ['title', 'minutes'],
  additionalProperties: false,
};
const dot = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

describe('the client openai at the route responses', () => {
  let door: Door;
  let client: OpenAI;
  before(async () => {
    door = await startDoor();
    client = new OpenAI({ apiKey: restKey, baseURL: door.url, maxRetries: 0 });
  });
  after(() => door.host.stop());

  const errorOf = async (body: object, with_ = client) =>
    (await failureOf(with_.responses.create(body as OpenAI.Responses.ResponseCreateParamsNonStreaming))) as APIError;
  const cli = async (...argv: string[]) => {
    const { code, out, err } = await door.host.cli('svc', ...argv, '--json');
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as { readonly id: number; readonly key: string };
  };
  const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: door.url, maxRetries: 0 });

  for (const [model, takesSchemas] of models) {
    describe(`with ${model}`, () => {
      const ask = { model, instructions: 'Be brief.', input: 'echo: Bonjour, ça va ? 🌍' };

      it('gets a text with its usage', async () => {
        const response = await client.responses.create(ask);
        expect([response.object, response.status, response.output_text, response.model]).to.deep.equal([
          ...['response', 'completed', 'Bonjour, ça va ? 🌍', model],
        ]);
        const { input_tokens, output_tokens, total_tokens } = response.usage!;
        expect(total_tokens).to.equal(input_tokens + output_tokens);
      });

      it('gets the same text in events, in the order of OpenAI', async () => {
        const stream = client.responses.stream(ask);
        const types: string[] = [];
        const numbers: number[] = [];
        let text = '';
        for await (const event of stream) {
          if (types.at(-1) !== event.type) types.push(event.type);
          numbers.push(event.sequence_number);
          if (event.type === 'response.output_text.delta') text += event.delta;
        }
        const { output_text, usage } = await stream.finalResponse();
        expect([text, output_text]).to.deep.equal(['Bonjour, ça va ? 🌍', 'Bonjour, ça va ? 🌍']);
        expect(usage!.total_tokens).to.be.above(0);
        expect(numbers).to.deep.equal(numbers.map((_, index) => index));
        expect(types.filter((type) => !/reasoning/.test(type)).slice(-9)).to.deep.equal([
          'response.created',
          'response.in_progress',
          'response.output_item.added',
          'response.content_part.added',
          'response.output_text.delta',
          'response.output_text.done',
          'response.content_part.done',
          'response.output_item.done',
          'response.completed',
        ]);
      });

      it('calls functions in five streamed turns, and gets a text', async () => {
        const input: Input = [];
        for (const city of ['Oslo', 'Bergen', 'Tromsø', 'Narvik', 'Ålesund']) {
          input.push({ role: 'user', content: city });
          const called = await client.responses.stream({ model, input, tools: [weather] }).finalResponse();
          const call = called.output.find((item) => item.type === 'function_call');
          expect(JSON.parse(call!.arguments)).to.deep.equal({ city });
          input.push(...(called.output as Input));
          input.push({ type: 'function_call_output', call_id: call!.call_id, output: '{"degrees": 4}' });
          const answered = await client.responses.stream({ model, input, tools: [weather] }).finalResponse();
          expect(answered.output_text).to.not.equal('');
          input.push(...(answered.output as Input));
        }
      });

      it(takesSchemas ? 'parses JSON of a schema' : 'is told that schemas are not supported', async () => {
        const text = { format: { type: 'json_schema' as const, name: 'recipe', schema: recipe } };
        const request = client.responses.parse({ model, input: 'Soup', text });
        if (takesSchemas)
          return void expect((await request).output_parsed).to.deep.equal({ title: 'Soup', minutes: 1 });
        expect(((await failureOf(request)) as APIError).code).to.equal('unsupported_parameter');
      });

      it('is told what another format cannot hold, by its path', async () => {
        const file = { type: 'input_file', file_id: 'file-1' };
        const cases: readonly (readonly [param: string, body: object])[] = [
          ['tools[1]', { tools: [weather, { type: 'web_search' }] }],
          ['input[0].content[1]', { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }, file] }] }],
          [
            'input[1]',
            {
              input: [
                { role: 'user', content: 'Hi' },
                { type: 'item_reference', id: 'msg_1' },
              ],
            },
          ],
          ['input[0]', { input: [{ type: 'function_call_output', call_id: 'no', output: 'x' }] }],
          ['tool_choice', { tools: [weather], tool_choice: { type: 'web_search' } }],
          ['prompt', { prompt: { id: 'pmpt_1' } }],
          ['nonsense', { nonsense: 1 }],
        ];
        for (const [param, body] of cases) {
          const error = await errorOf({ ...ask, ...body });
          expect([error.status, error.code, error.param]).to.deep.equal([400, 'unsupported_parameter', param]);
        }
      });

      it('is told that responses are not stored', async () => {
        for (const param of ['previous_response_id', 'conversation']) {
          const error = await errorOf({ ...ask, [param]: 'resp_1' });
          expect([error.status, error.param]).to.deep.equal([400, param]);
          expect(error.message).to.contain('not stored');
        }
      });

      it('names what it left out, whole and streamed', async () => {
        const body = { ...ask, truncation: 'auto' as const, max_tool_calls: 3, include: ['web_search_call.results'] };
        const given = body as OpenAI.Responses.ResponseCreateParamsNonStreaming;
        const { response } = await client.responses.create(given).withResponse();
        expect(response.headers.get('x-svc-ignored-params')).to.contain('truncation, max_tool_calls, include');
        const stream = client.responses.stream(given as Parameters<typeof client.responses.stream>[0]);
        const { svc } = (await stream.finalResponse()) as unknown as { svc: { ignored_params: string[] } };
        expect(svc.ignored_params).to.include.members(['truncation', 'max_tool_calls', 'include']);
      });
    });
  }

  it('shows images to a model', async () => {
    const content = [
      { type: 'input_text' as const, text: 'What is this?' },
      { type: 'input_image' as const, image_url: dot, detail: 'auto' as const },
    ];
    for (const model of ['claude/claude-sonnet-5-5', 'google/gemini-2.5-flash']) {
      const { output_text } = await client.responses.create({ model, input: [{ role: 'user', content }] });
      expect(output_text, model).to.contain('[image/gif, 42 bytes]');
    }
  });

  it('ends as incomplete at the length limit', async () => {
    const ask = { model: 'openai/gpt-4.1', input: 'echo: one two three four five six', max_output_tokens: 2 };
    for (const response of [await client.responses.create(ask), await client.responses.stream(ask).finalResponse()])
      expect([response.status, response.incomplete_details?.reason]).to.deep.equal(['incomplete', 'max_output_tokens']);
  });

  it('talks to a chatbot, which takes no tools', async () => {
    const bot = JSON.stringify({ name: 'Helper', provider: 'openai', model: 'gpt-4.1' });
    const { id } = JSON.parse((await door.host.cli('svc', 'bot', 'create', '--json', bot)).out) as { id: number };
    const ask = { model: `bot:${String(id)}`, input: [{ role: 'user' as const, content: 'echo: We open at nine.' }] };
    const { data, response } = await client.responses.create({ ...ask, instructions: 'x' }).withResponse();
    expect(data.output_text).to.contain('We open at nine.');
    expect(response.headers.get('x-svc-ignored-params')).to.equal('instructions');
    expect((await client.responses.stream(ask).finalResponse()).output_text).to.equal(data.output_text);
    for (const [param, body] of [
      ['tools', { tools: [weather] }],
      ['previous_response_id', { previous_response_id: 'resp_1' }],
      ['input', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: dot }] }] }],
    ] as const)
      expect((await errorOf({ ...ask, ...body })).param).to.equal(param);
  });

  it('is refused with a wrong key, an unknown model, and in the background', async () => {
    const ask = { model: 'openai/gpt-4.1', input: 'Hello' };
    const wrong = await errorOf(ask, clientOf('wrong'));
    expect([wrong.status, wrong.code]).to.deep.equal([401, 'invalid_api_key']);
    const unknown = await errorOf({ ...ask, model: 'nothing/gpt' });
    expect([unknown.status, unknown.code]).to.deep.equal([404, 'model_not_found']);
    expect((await errorOf({ ...ask, background: true })).param).to.equal('background');
  });

  it('reaches only what its key may use', async () => {
    const { key } = await cli('key', 'create', '--name=Mini', '--routes=openai', '--models=gpt-4.1-mini');
    const scoped = clientOf(key);
    const ask = { model: 'openai/gpt-4.1-mini', input: 'echo: Hi' };
    expect((await scoped.responses.create(ask)).output_text).to.equal('Hi');
    for (const body of [
      { model: 'openai/gpt-4.1' },
      { models: ['gpt-4.1'] },
      { tools: [{ type: 'image_generation', model: 'gpt-image-1' }] },
    ]) {
      const error = await errorOf({ ...ask, ...body }, scoped);
      expect([error.status, error.type], JSON.stringify(body)).to.deep.equal([403, 'permission_error']);
    }
    const { key: other } = await cli('key', 'create', '--name=Images', '--routes=images');
    expect((await errorOf(ask, clientOf(other))).status).to.equal(403);
  });

  it('with a lenient key gets an answer without what the model lacks, which is named', async () => {
    const { key } = await cli('key', 'create', '--name=Lenient', '--routes=openai', '--lenient');
    const body = {
      model: 'claude/claude-sonnet-5-5',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'echo: Hi' },
            { type: 'input_file', file_id: 'f' },
          ],
        },
      ],
      tools: [{ type: 'web_search' }],
      nonsense: 1,
    } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;
    const { data, response } = await clientOf(key).responses.create(body).withResponse();
    expect(data.output_text).to.equal('Hi');
    const ignored = response.headers.get('x-svc-ignored-params')?.split(', ');
    expect(ignored).to.include.members(['input[0].content[1]', 'tools[0]', 'nonsense']);
  });

  it('learns by a dry run what a request would be allowed', async () => {
    const ada = { login: 'ada', email: 'ada@example.com', password: 'correct horse battery', role: 'administrator' };
    const user = await door.host.users.create(ada);
    const { password } = await createApplicationPasswords(door.host).create(user.id, 'Tests');
    const authorization = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
    const response = await door.host.fetch('/wp-json/svc-openai/v1/responses?dry_run=1', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ model: 'openai/gpt-4.1', input: 'Hello', svc_api_key: restKey }),
    });
    expect(await response.json()).to.deep.include({ dry_run: true, allowed: true, rule: 'sandbox' });
  });

  it('is told that its budget is used up', async () => {
    const budget = { id: 'none', name: 'None', unit: 'tokens', amount: 1 };
    await door.host.options.update('svc_budgets', []);
    const { code, err } = await door.host.cli('svc', 'budget', 'set', JSON.stringify(budget));
    expect(code, err).to.equal(0);
    const error = await errorOf({ model: 'openai/gpt-4.1', input: 'Hello' });
    await door.host.options.update('svc_budgets', []);
    expect([error.status, error.code]).to.deep.equal([429, 'insufficient_quota']);
  });
});
