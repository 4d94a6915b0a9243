import { expect } from 'chai';
import { describeSharedHosts, sharedSite } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { goodRequest, restKey, startService } from './service.ts';
import type { UpstreamResponse } from './upstream.ts';

const usage = {
  prompt_tokens: 40,
  completion_tokens: 30,
  total_tokens: 70,
  prompt_tokens_details: { cached_tokens: 32 },
  completion_tokens_details: { reasoning_tokens: 20 },
};

type Message = Readonly<Record<string, unknown>>;

/** A whole chat completion. */
const whole = (
  message: Message,
  finish_reason: string | null = 'stop',
  more: object = { usage },
): UpstreamResponse => ({
  body: {
    model: 'far-model',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
    ...more,
  },
});

/** A streamed one of these deltas. */
const streamed = (deltas: readonly Message[], finish_reason = 'stop'): UpstreamResponse => {
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    { choices: [], usage },
  ];
  const data = [...chunks.map((chunk) => JSON.stringify({ model: 'far-model', ...chunk })), '[DONE]'];
  return {
    headers: { 'content-type': 'text/event-stream' },
    body: data.map((one) => `data: ${one}\n\n`).join(''),
  };
};

/** A text in pieces of five bytes. */
const inPieces = (text: string) => (text.match(/.{1,5}/gs) ?? []).map((content) => ({ content }));

const call = ([id, name]: readonly [id: string | null, name: string], given: unknown, index: number | null = 0) => ({
  ...(index !== null && { index }),
  ...(id !== null && { id, type: 'function' }),
  function: { ...(name !== '' && { name }), arguments: given },
});

const tools = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object' } },
}));

interface Delta {
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** A whole completion, or a chunk of one. */
interface Chunk {
  readonly choices?: readonly {
    readonly message?: Delta;
    readonly delta?: Delta;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: object | null;
  readonly error?: { readonly message: string };
}

interface Completion {
  readonly status: number;
  readonly text: string;
  readonly finish: string | null;
  readonly calls: readonly (readonly [id: unknown, name: unknown, given: unknown])[];
  readonly usage: unknown;
  readonly isDone: boolean;
  readonly error: unknown;
}

describeSharedHosts('texts as the model wrote them, through each door', ({ location }) => {
  const site = shareSite(
    () => startService(sharedSite(location())),
    ({ stop }) => stop(),
  );
  beforeEach(() =>
    site().host.hooks.addFilter('svc_provider_settings', (settings: Message, id: string) =>
      id === 'ollama' || id === 'claude'
        ? {
            ...settings,
            api_key: 'test-key-0123456789',
            base_url: site().upstream.url.replace(/\/v1$/, id === 'ollama' ? '/v1' : ''),
          }
        : settings,
    ),
  );

  /** The OpenAI-compatible routes, whole or streamed. */
  async function complete(body: object): Promise<Completion> {
    const response = await site().host.fetch('/wp-json/svc-openai/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
      body: JSON.stringify({ model: 'openai/m', messages: goodRequest.messages, ...body }),
    });
    const raw = await response.text();
    const lines = raw.startsWith('{')
      ? [raw]
      : raw.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []));
    const chunks = lines.map((line) => JSON.parse(line) as Chunk);
    const deltas = chunks.flatMap(({ choices: [choice] = [] }) => choice?.message ?? choice?.delta ?? []);
    return {
      status: response.status,
      text: deltas.map(({ content }) => content ?? '').join(''),
      finish: chunks.flatMap(({ choices: [choice] = [] }) => choice?.finish_reason ?? []).at(-1) ?? null,
      calls: deltas
        .flatMap(({ tool_calls = [] }) => tool_calls)
        .map(({ id, function: { name, arguments: given } }) => [id, name, given]),
      usage: chunks.flatMap((chunk) => chunk.usage ?? []).at(-1),
      isDone: raw.includes('data: [DONE]'),
      error: chunks.flatMap((chunk) => chunk.error ?? []).at(-1),
    };
  }

  const both = [false, true] as const;
  const answer = (
    message: Message,
    { finish = 'stop', isStreamed = false, deltas = [message] as readonly Message[] } = {},
  ) => site().upstream.answer(isStreamed ? streamed(deltas, finish) : whole(message, finish));

  it('report cached and reasoning tokens, and all three totals', async () => {
    const expected = {
      prompt_tokens: 40,
      completion_tokens: 30,
      total_tokens: 70,
      prompt_tokens_details: { cached_tokens: 32 },
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    for (const stream of both) {
      answer({ content: 'Hello.' }, { isStreamed: stream });
      const completion = await complete({ stream, ...(stream && { stream_options: { include_usage: true } }) });
      expect([completion.text, completion.usage]).to.deep.equal(['Hello.', expected]);
    }
    answer({ content: 'Hello.' });
    const { body } = await site().generate(goodRequest);
    // The contract has three members (4.2).
    expect(body.usage).to.deep.equal({ input_tokens: 40, output_tokens: 30, total_tokens: 70 });
  });

  it('are no complete answers when the upstream failed, filtered or returned nothing', async () => {
    for (const [message, finish] of [
      [{ content: 'Half of' }, 'error'],
      [{ content: 'Half of' }, 'insufficient_system_resource'],
      [{ content: '' }, 'stop'],
      [{ content: null }, 'stop'],
    ] as const) {
      answer(message, { finish });
      expect((await site().generate(goodRequest)).body.code, finish).to.equal('rest_svc_provider_error');
      expect((await complete({})).status, finish).to.equal(502);
      answer(message, { finish, isStreamed: true });
      const { isDone, error, status } = await complete({ stream: true });
      expect([isDone, error !== undefined, finish], JSON.stringify(status)).to.deep.equal([false, true, finish]);
    }
    for (const finish of ['length', 'content_filter']) {
      answer({ content: 'Half of' }, { finish });
      const { headers, body } = await site().generate(goodRequest);
      expect([body.content, headers.get('x-svc-finish-reason')]).to.deep.equal(['Half of', finish]);
      expect((await complete({})).finish).to.equal(finish);
      answer({ content: 'Half of' }, { finish, isStreamed: true });
      expect((await complete({ stream: true })).finish).to.equal(finish);
    }
  });

  it('keep two calls of functions under one index apart, and the arguments of each', async () => {
    const expected = [
      ['call_a', 'get_weather', '{"city":"Paris"}'],
      ['call_b', 'get_time', '{"tz":"CET"}'],
    ];
    const pieces = {
      'one after the other': [
        call(['call_a', 'get_weather'], '{"city":"Paris"}'),
        call(['call_b', 'get_time'], '{"tz":"CET"}'),
      ],
      'in fragments that alternate': [
        call(['call_a', 'get_weather'], '{"city":', 0),
        call(['call_b', 'get_time'], '{"tz":', 1),
        call([null, ''], '"Paris"}', 0),
        call([null, ''], '"CET"}', 1),
      ],
      'without an index': [
        call(['call_a', 'get_weather'], '{"city":"Paris"}', null),
        call(['call_b', 'get_time'], '{"tz":"CET"}', null),
      ],
      'with objects as arguments': [
        call(['call_a', 'get_weather'], { city: 'Paris' }),
        call(['call_b', 'get_time'], { tz: 'CET' }),
      ],
    };
    for (const provider of ['openai', 'ollama'])
      for (const [title, calls] of Object.entries(pieces)) {
        site().upstream.answer(
          streamed(
            calls.map((one) => ({ tool_calls: [one] })),
            'tool_calls',
          ),
        );
        const { calls: got, finish } = await complete({ model: `${provider}/m`, tools, stream: true });
        expect([got, finish], `${provider} ${title}`).to.deep.equal([expected, 'tool_calls']);
      }
    answer(
      { content: null, tool_calls: [call(['call_a', 'get_weather'], { city: 'Paris' })] },
      { finish: 'tool_calls' },
    );
    expect((await complete({ tools })).calls).to.deep.equal(expected.slice(0, 1));
    answer({ content: null, tool_calls: [call(['call_a', 'get_weather'], '{"city":"Pa')] }, { finish: 'length' });
    expect((await complete({ tools })).calls).to.deep.equal([['call_a', 'get_weather', '{"city":"Pa']]);
  });

  it('begin after the reasoning, with one tag, both tags or none', async () => {
    const texts = {
      'Let me think about it.\n</think>\n\nHello!': 'Hello!',
      'secret</think>Hello!': 'Hello!',
      'Write `</think>` at the end.': 'Write `</think>` at the end.',
      '<think>Let me think.</think>Hello!': 'Hello!',
      'Hello!\n```\n</think>\n```\nThat tag ends it.': 'Hello!\n```\n</think>\n```\nThat tag ends it.',
    };
    for (const stream of both)
      for (const [written, text] of Object.entries(texts)) {
        answer({ content: written }, { isStreamed: stream, deltas: inPieces(written) });
        expect((await complete({ model: 'ollama/thinker', stream })).text, written).to.equal(text);
      }
    answer({ content: '<think>Let me think about' }, { finish: 'length' });
    expect(await complete({ model: 'ollama/thinker' })).to.include({ text: '', finish: 'length' });
  });

  it('of a model that nothing is known of, on a server of someone else, begin after the reasoning from the first stream on', async () => {
    for (const written of ['Let me think.\n</think>\n\nHello!', 'Let me think.</think>Hello!', 'Hello!']) {
      answer({ content: written }, { isStreamed: true, deltas: inPieces(written) });
      const { text } = await complete({ model: `openai/mystery-${String(written.length)}b`, stream: true });
      expect(text, written).to.equal('Hello!');
    }
  });

  it('of a model that the provider’s setting names are held back until its reasoning ends', async () => {
    const { hooks } = site().host;
    const written = 'secret </think> Hello!';
    hooks.addFilter('svc_provider_settings', (settings: Message) => ({ ...settings, reasoning_models: ['own-*'] }));
    for (const stream of both) {
      answer({ content: written }, { isStreamed: stream, deltas: inPieces(written) });
      expect((await complete({ model: 'openai/own-model', stream })).text).to.equal('Hello!');
    }
  });

  it('are requested from Claude without blank turns', async () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: '' },
      { role: 'user', content: ' \n' },
      { role: 'user', content: 'b' },
    ];
    const message = {
      type: 'message',
      model: 'c',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
    };
    for (const send of [
      () => complete({ model: 'claude/c', messages }),
      () => site().generate({ provider: 'claude', model: 'c', messages }),
    ]) {
      site().upstream.answer({ body: { ...message, usage: { input_tokens: 3, output_tokens: 2 } } });
      expect((await send()).status).to.equal(200);
      const sent = site().upstream.requests[0]?.['messages'] as readonly { content: unknown }[];
      const texts = sent.flatMap(({ content }) =>
        typeof content === 'string' ? [content] : (content as readonly { text: string }[]).map(({ text }) => text),
      );
      expect(
        texts.every((text) => text.trim() !== ''),
        JSON.stringify(sent),
      ).to.equal(true);
    }
  });

  it('are no empty answers where the model calls functions that it was not offered', async () => {
    const calls = { content: null, tool_calls: [call(['call_a', 'get_weather'], '{}')] };
    for (const message of [calls, { ...calls, content: '' }]) {
      answer(message, { finish: 'tool_calls' });
      const { status, body } = await site().generate(goodRequest);
      expect([status, body.code]).to.deep.equal([502, 'rest_svc_provider_error']);
      expect(body.message).to.contain('it calls functions, and has no text');
    }
    answer({ ...calls, content: 'It is mild.' }, { finish: 'tool_calls' });
    expect((await site().generate(goodRequest)).body.content).to.equal('It is mild.');
  });

  it('are no calls, failed or not, where a request is refused before its provider is asked', async () => {
    const { host, upstream } = site();
    upstream.answer();
    const usage = async () => JSON.parse((await host.cli('svc', 'usage', '--by=outcome', '--json')).out) as unknown;
    // The ledger stores calls of the tests before a little later.
    const earlier = await usage();
    await host.cli('svc', 'budget', 'set', JSON.stringify({ id: 'one', name: 'One', unit: 'calls', amount: 10_000 }));
    const given = { role: 'assistant', content: null, tool_calls: [call(['c', 'get_time'], '{"tz', null)] };
    const image = { type: 'image_url', image_url: { url: 'http://127.0.0.1:1/a.png' } };
    const user = { role: 'user', content: 'a' };
    for (const body of [
      { model: 'claude/c', tools, messages: [user, given, { role: 'tool', tool_call_id: 'c', content: 'x' }, user] },
      { model: 'claude/c', messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, image] }] },
      { model: 'openai/m', messages: [] },
      { model: 'xai/m' },
    ])
      expect((await complete(body)).status, JSON.stringify(body)).to.equal(400);
    expect(upstream.requests).to.have.length(0);
    expect(await usage()).to.deep.equal(earlier);
    expect(await host.database.knex('svc_budget_reservations')).to.deep.equal([]);
    const [status] = JSON.parse((await host.cli('svc', 'budget', 'status', '--json')).out) as unknown[];
    expect(status).to.include({ reserved: 0, refused: 0 });
  });
});
