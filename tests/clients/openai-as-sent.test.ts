import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { restKey, startDoor, type Door } from './openai-door.ts';

type Members = Readonly<Record<string, unknown>>;

interface Vendor {
  readonly url: string;
  /** What it received, newest last. */
  readonly received: { readonly body: Members; readonly headers: IncomingHttpHeaders }[];
  /** The members of its next messages beside `role`, or pieces of a stream. */
  message: Members;
  pieces: readonly Members[];
  status: number;
  stop(): void;
}

async function startVendor(): Promise<Vendor> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Members;
      vendor.received.push({ body, headers: request.headers });
      const head = { id: 'c1', created: 1, model: 'as-reported' };
      const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };
      if (vendor.status !== 200) {
        response.writeHead(vendor.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'Unknown parameter: mood.', param: 'mood', type: 'a' } }));
        return;
      }
      if (body['stream'] === true) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const delta of vendor.pieces)
          response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta }] })}\n\n`);
        const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage };
        response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
        return;
      }
      response.setHeader('content-type', 'application/json');
      const message = { role: 'assistant', ...vendor.message };
      response.end(JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const vendor: Vendor = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`,
    received: [],
    message: { content: 'Hi.' },
    pieces: [{ content: 'Hi.' }],
    status: 200,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return vendor;
}

describe('requests in the format of OpenAI', () => {
  let door: Door;
  let vendor: Vendor;
  before(async () => {
    [door, vendor] = await Promise.all([startDoor(), startVendor()]);
    // Its calls would cost nothing.
    await door.host.options.update('svc_sandbox', false);
    door.host.hooks.addFilter(
      'svc_provider_settings',
      (settings: Members, id: string) => ({
        ...settings,
        api_key: 'k',
        base_url: id === 'claude' || id === 'google' ? 'http://127.0.0.1:9' : vendor.url,
      }),
      99,
    );
  });
  afterEach(() => Object.assign(vendor, { message: { content: 'Hi.' }, pieces: [{ content: 'Hi.' }], status: 200 }));
  after(async () => {
    await door.host.stop();
    vendor.stop();
  });

  const post = async (body: Members, key = restKey) => {
    const response = await fetch(`${door.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const sent = async (body: Members): Promise<Members> => {
    const { status, text } = await post(body);
    expect(status, text).to.equal(200);
    return vendor.received.at(-1)?.body ?? {};
  };
  const unpriced = 'rest_svc_budget_unpriced_param';
  const hello = { role: 'user', content: 'Hello' };

  const rich = {
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } }] },
      { role: 'assistant', content: 'A sound.', reasoning_content: 'It hums.', audio: { id: 'a1' } },
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'First this' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'text', text: 'then that' },
          { type: 'image_url', image_url: { url: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=', detail: 'auto' } },
        ],
      },
      { role: 'tool', tool_call_id: 'gone', content: 'A result without its call.' },
    ],
    tools: [
      { type: 'web_search', parameters: {} },
      { type: 'function', function: { name: 'find', examples: [] } },
    ],
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
    models: ['a/b'],
    provider: { order: ['x'] },
    logit_bias: { 7: -100 },
    mood: null,
    temperature: 0.3,
    logprobs: true,
  };

  it('reach a vendor with that format as they were sent', async () => {
    for (const provider of ['openai', 'openrouter', 'deepseek', 'xai', 'ollama']) {
      const { model, ...others } = await sent({ model: `${provider}/m-1`, ...rich });
      expect(model, provider).to.equal('m-1');
      expect(others, provider).to.deep.equal(rich);
    }
    const { stream, stream_options: options, ...others } = await sent({ model: 'openai/m-1', ...rich, stream: true });
    expect([stream, options]).to.deep.equal([true, { include_usage: true }]);
    expect(others).to.deep.equal({ model: 'm-1', ...rich });
  });

  it('are refused for a vendor with another format, by the name of what it lacks', async () => {
    const calls = vendor.received.length;
    for (const [model, extra, param] of [
      ['claude/c', {}, 'logit_bias'],
      ['google/g', { logit_bias: undefined, logprobs: undefined, models: undefined, provider: undefined }, 'messages'],
    ] as const) {
      const { status, text } = await post({ ...rich, model, ...extra });
      expect(status, text).to.equal(400);
      expect((JSON.parse(text) as { error: { param: string } }).error.param).to.match(new RegExp(`^(${param}|models)`));
    }
    expect(vendor.received.length).to.equal(calls);
  });

  it('keep the status and the sentence with which the vendor refuses them', async () => {
    vendor.status = 400;
    const { status, text } = await post({ model: 'openai/m-1', messages: [hello], mood: 'gay' });
    expect(status).to.equal(400);
    expect(text).to.contain('Unknown parameter: mood.');
  });

  it('have the limit of the answer and the effort by the names of their vendor', async () => {
    const limit = { messages: [hello], max_completion_tokens: 9 };
    expect(await sent({ model: 'deepseek/m', ...limit })).to.deep.equal({
      model: 'm',
      messages: [hello],
      max_tokens: 9,
    });
    const old = { messages: [hello], max_tokens: 9 };
    expect(await sent({ model: 'openai/gpt-4.1', ...old })).to.include({ max_completion_tokens: 9 });
    expect(await sent({ model: 'openrouter/m', messages: [hello], reasoning_effort: 'low' })).to.deep.equal({
      model: 'm',
      messages: [hello],
      reasoning: { effort: 'low' },
    });
  });

  it('reach models of their key alone', async () => {
    const { out } = await door.host.cli(
      ...['svc', 'key', 'create', '--name=Small', '--routes=openai', '--models=small*', '--json'],
    );
    const { key } = JSON.parse(out) as { key: string };
    const ask = async (body: Members) =>
      (await post({ messages: [hello], model: 'openrouter/small', ...body }, key)).status;
    expect(await ask({ models: ['small-2'] })).to.equal(200);
    expect(await ask({ models: ['small-2', 'large'] })).to.equal(403);
    const tools = (model: string) => [{ type: 'openrouter:advisor', parameters: { model } }];
    expect(await ask({ tools: tools('small-2') })).to.equal(200);
    expect(await ask({ tools: tools('large') })).to.equal(403);
    // A function of the caller may have an argument of that name.
    const properties = { model: { type: 'string' }, models: ['large'] };
    expect(
      await ask({ tools: [{ type: 'function', function: { name: 'pick', parameters: { properties } } }] }),
    ).to.equal(200);
  });

  it('are refused under a budget of dollars with what has no price, and sent where it may be free', async () => {
    const search = { tools: [{ type: 'web_search' }] };
    const ask = async (body: Members): Promise<unknown> => {
      const { status, text } = await post({ messages: [hello], model: 'openai/gpt-4.1', ...body });
      return status === 200 ? status : (JSON.parse(text) as { error: { param: string; svc: Members } }).error;
    };
    const budget = async (more: Members) => {
      const values = { id: 'all', name: 'All', unit: 'dollars', amount: 1_000, ...more };
      expect((await door.host.cli('svc', 'budget', 'set', JSON.stringify(values))).code).to.equal(0);
    };
    await budget({ unpriced: 'refuse' });
    for (const [param, body] of [
      ['tools[0]', search],
      ['service_tier', { service_tier: 'priority' }],
      ['web_search_options', { web_search_options: {} }],
    ] as const)
      expect(await ask(body))
        .to.deep.include({ param })
        .and.have.nested.property('svc.code', unpriced);
    expect(await ask({ service_tier: 'auto', tools: [{ type: 'function', function: { name: 'find' } }] })).to.equal(
      200,
    );
    await budget({ unpriced: 'free' });
    expect(await ask(search)).to.equal(200);
    await door.host.cli('svc', 'budget', 'delete', 'all');
  });

  it('change with filters of plugins, which see them in the words of the service', async () => {
    const louder = <Call extends { readonly messages: readonly { readonly content: string }[] }>(call: Call): Call => ({
      ...call,
      messages: call.messages.map((message) => ({ ...message, content: message.content.toUpperCase() })),
    });
    door.host.hooks.addFilter('svc_text_request', louder);
    expect(await sent({ model: 'openai/m', messages: [hello] })).to.deep.equal({
      model: 'm',
      messages: [{ role: 'user', content: 'HELLO' }],
    });
    expect((await post({ model: 'openai/m', messages: [hello], mood: 'gay' })).status).to.equal(400);
    door.host.hooks.removeFilter('svc_text_request', louder);
  });

  it('have files of many megabytes as they were sent', async () => {
    const data = 'QUJD'.repeat(1_000_000);
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } },
          { type: 'input_audio', input_audio: { data, format: 'wav' } },
          { type: 'text', text: `"${'long '.repeat(100_000)}"` },
        ],
      },
    ];
    expect(await sent({ model: 'openai/m', messages })).to.deep.equal({ model: 'm', messages });
  });

  const details = [
    { type: 'reasoning.text', text: 'First. ', signature: 's1', index: 0 },
    { type: 'reasoning.encrypted', data: 'abc', index: 1 },
  ];
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }];

  it('return the reasoning and the sources beside the text, whole and streamed', async () => {
    vendor.message = { content: 'Hi.', reasoning: 'First. ', reasoning_details: details, annotations };
    const whole = JSON.parse((await post({ model: 'openrouter/m', messages: [hello] })).text) as {
      choices: { message: Members }[];
    };
    expect(whole.choices[0]?.message).to.deep.equal({
      ...{ role: 'assistant', content: 'Hi.', refusal: null, reasoning_content: 'First. ' },
      ...{ reasoning_details: details, annotations },
    });
    vendor.pieces = [
      { reasoning: 'Fir', reasoning_details: [{ type: 'reasoning.text', text: 'Fir', index: 0 }] },
      { reasoning: 'st. ', reasoning_details: [{ type: 'reasoning.text', text: 'st. ', signature: 's1', index: 0 }] },
      { reasoning_details: [details[1]] },
      { content: 'Hi.', annotations },
    ];
    const { text } = await post({ model: 'openrouter/m', messages: [hello], stream: true });
    const deltas = [...text.matchAll(/^data: (\{.*)$/gm)].map(
      ([, json]) => (JSON.parse(json ?? '') as { choices: { delta: Members }[] }).choices[0]?.delta ?? {},
    );
    const joined = (name: string): string => deltas.map((delta) => (delta[name] as string | undefined) ?? '').join('');
    const listed = (name: string): unknown[] => deltas.flatMap((delta) => (delta[name] as unknown[] | undefined) ?? []);
    expect([joined('reasoning_content'), joined('content')]).to.deep.equal(['First. ', 'Hi.']);
    expect([listed('reasoning_details'), listed('annotations')]).to.deep.equal([details, annotations]);
    expect(deltas.findIndex((delta) => 'reasoning_content' in delta)).to.be.below(
      deltas.findIndex((delta) => delta['content'] === 'Hi.'),
    );
  });
});
