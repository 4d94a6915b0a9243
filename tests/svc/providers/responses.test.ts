import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { chatResponse } from '../../../plugins/svc/providers/chat-completions/chat-response.ts';
import { claudeResponse } from '../../../plugins/svc/providers/claude/claude-response.ts';
import { cleanMessage } from '../../../plugins/svc/kit/clean-message.ts';
import { errorFromResponse, readErrorMessage } from '../../../plugins/svc/providers/provider-errors.ts';
import { googleResponse } from '../../../plugins/svc/providers/google/google-response.ts';
import { renderParamsTable } from '../../quality/params-table.ts';
import type { ProviderConnection } from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';

const clock = createFakeClock();
const connection = { settings: { api_key: 'abcd1234' }, clock } as unknown as ProviderConnection;
const asked = { model: 'asked' };
const chat = (message: object, finish_reason = 'stop', rest: object = {}) =>
  chatResponse({ choices: [{ message, finish_reason }], ...rest }, asked, connection);

describe('Answers of Chat Completions', () => {
  it('join the text of several parts', () => {
    expect(
      chat({
        content: [
          { type: 'text', text: 'Bon' },
          { type: 'text', text: 'jour.' },
        ],
      }).content,
    ).to.equal('Bonjour.');
  });

  it('leave out a block of thinking at the beginning', () => {
    expect(chat({ content: '<think>\nThey greet.\n</think>\n\nBonjour.' }).content).to.equal('Bonjour.');
  });

  it('name the model that was asked where the upstream names none', () => {
    expect(chat({ content: 'Bonjour.' }).model).to.equal('asked');
  });

  it('may be empty when a stop text came first, else an empty one is a failure', () => {
    const choices = [{ message: { content: '' }, finish_reason: 'stop' }];
    expect(chatResponse({ choices }, { ...asked, params: { stop: 'x' } }, connection).content).to.equal('');
    for (const message of [{ content: '' }, { content: null }, { content: null, reasoning_content: 'Hm.' }])
      expect(() => chat(message))
        .to.throw('its response is empty (stop).')
        .with.property('kind', 'unreadable');
  });

  it('are failures when they end for a reason of the upstream, with part of a text too', () => {
    for (const reason of ['error', 'insufficient_system_resource', 'abort'])
      for (const content of ['Half of', ''])
        expect(() => chat({ content }, reason))
          .to.throw(reason)
          .with.property('kind', 'unavailable');
  });

  it('end as servers with other names for it say', () => {
    expect(chat({ content: 'a' }, 'EOS_token').finish).to.equal(undefined);
    expect(chat({ content: 'a' }, 'max_tokens').finish).to.equal('length');
    expect(chat({ content: 'Well, ', refusal: 'No.' }).finish).to.equal('content_filter');
  });

  it('may be empty at the length limit, which the caller judges', () => {
    expect(chat({ content: '' }, 'length')).to.include({ content: '', finish: 'length' });
  });

  it('have the arguments of tools as the model wrote them, whatever their form', () => {
    const argumentsOf = (given: unknown) =>
      chat({ content: null, tool_calls: [{ id: 'a', function: { name: 'f', arguments: given } }] }).toolCalls?.[0]
        ?.arguments;
    expect(argumentsOf({ city: 'Paris' })).to.equal('{"city":"Paris"}');
    expect(argumentsOf('{"city":"Pa')).to.equal('{"city":"Pa');
    expect([argumentsOf(''), argumentsOf(undefined), argumentsOf(null)]).to.deep.equal(['{}', '{}', '{}']);
  });

  it('have a call of the older member function_call', () => {
    const { toolCalls } = chat({ content: null, function_call: { name: 'f', arguments: '{}' } }, 'function_call');
    expect(toolCalls?.map(({ name }) => name)).to.deep.equal(['f']);
  });

  it('map an error inside a 200 by its own code, as OpenRouter sends it', () => {
    expect(() => chatResponse({ error: { code: 429, message: 'Slow down.' } }, asked, connection))
      .to.throw('Slow down.')
      .with.property('kind', 'rate_limited');
    expect(() => chat({ content: '' }, 'error', { error: { code: 'oops', message: 'Broken upstream.' } }))
      .to.throw('Broken upstream.')
      .with.property('kind', 'unavailable');
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded.' } };
    for (const read of [claudeResponse, googleResponse])
      for (const [body, kind] of [
        [overloaded, 'unavailable'],
        [{ error: 'Overloaded.' }, 'unavailable'],
        [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Overloaded.' } }, 'rate_limited'],
      ] as const)
        expect(() => read(body, asked, connection))
          .to.throw('Overloaded.')
          .with.property('kind', kind);
  });

  it('count reasoning that is in the total alone as output, as xAI means it', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 };
    expect(chat({ content: 'a' }, 'stop', { usage }).usage).to.deep.equal({
      input_tokens: 10,
      output_tokens: 30,
      total_tokens: 40,
    });
  });

  it('count what is missing of the usage from its total', () => {
    const usageOf = (usage: object) => Object.values(chat({ content: 'a' }, 'stop', { usage }).usage ?? {});
    expect(usageOf({ total_tokens: 40 })).to.deep.equal([0, 0, 40]);
    expect(usageOf({ completion_tokens: 10, total_tokens: 40 })).to.deep.equal([30, 10, 40]);
    expect(usageOf({ prompt_tokens: 10, total_tokens: 40 })).to.deep.equal([10, 30, 40]);
    expect(usageOf({ prompt_tokens: 10 })).to.deep.equal([10, 0, 10]);
    expect(usageOf({})).to.deep.equal([]);
  });

  it('count no more tokens of a kind than there are', () => {
    const usage = {
      ...{ prompt_tokens: 10, completion_tokens: 5 },
      prompt_tokens_details: { cached_tokens: 8, image_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 1_000 },
    };
    expect(chat({ content: 'a' }, 'stop', { usage }).tokenDetails).to.deep.equal({
      ...{ cached_input: 8, image_input: 2, reasoning: 5 },
    });
  });

  it('count no tokens that are not whole numbers', () => {
    for (const written of ['3 tokens', '3.5', '-3', '', '99999999999', -3, Number.NaN])
      expect(
        chat({ content: 'a' }, 'stop', { usage: { prompt_tokens: written, completion_tokens: 1 } }).usage,
      ).to.deep.equal({ input_tokens: 0, output_tokens: 1, total_tokens: 1 });
    expect(
      chat({ content: 'a' }, 'stop', { usage: { prompt_tokens: '3', completion_tokens: '1' } }).usage,
    ).to.deep.equal({ input_tokens: 3, output_tokens: 1, total_tokens: 4 });
    expect(chat({ content: 'a' }, 'stop', { usage: { prompt_tokens: 3.0, completion_tokens: 1 } }).usage).to.deep.equal(
      { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
    );
  });
});

describe('Answers of Messages and generateContent', () => {
  it('tell the explanation of a refusal', () => {
    const body = {
      content: [],
      stop_reason: 'refusal',
      stop_details: { explanation: 'It is against the usage policy.' },
    };
    expect(claudeResponse(body, asked, connection)).to.include({
      content: '',
      refusal: 'It is against the usage policy.',
    });
  });

  it('tell why a candidate was withheld', () => {
    expect(googleResponse({ candidates: [{ finishReason: 'SAFETY' }] }, asked, connection)).to.include({
      content: '',
      finish: 'content_filter',
      refusal: 'the response was withheld (SAFETY).',
    });
  });

  it('may be empty at the length limit, which the caller judges', () => {
    const candidates = [{ finishReason: 'MAX_TOKENS', content: { role: 'model' } }];
    expect(googleResponse({ candidates }, asked, connection)).to.include({ content: '', finish: 'length' });
    for (const stop_reason of ['max_tokens', 'model_context_window_exceeded'])
      expect(
        claudeResponse({ content: [{ type: 'thinking', thinking: '...' }], stop_reason }, asked, connection),
      ).to.include({ content: '', finish: 'length' });
  });

  it('are failures when they are empty, or end for a reason of the upstream', () => {
    for (const finishReason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'NEW_ONE'])
      expect(() =>
        googleResponse({ candidates: [{ finishReason, finishMessage: 'Google says why.' }] }, asked, connection),
      )
        .to.throw(`${finishReason}: Google says why.`)
        .with.property('kind', 'unavailable');
    expect(() => googleResponse({ candidates: [{ finishReason: 'STOP' }] }, asked, connection))
      .to.throw('its response is empty (STOP).')
      .with.property('kind', 'unreadable');
    expect(() => claudeResponse({ content: [], stop_reason: 'end_turn' }, asked, connection)).to.throw('is empty');
    expect(() =>
      claudeResponse({ content: [{ type: 'text', text: 'a' }], stop_reason: 'new_one' }, asked, connection),
    ).to.throw('new_one');
  });
});

describe('Error messages of upstreams', () => {
  for (const [body, sentence] of [
    [{ error: { message: 'One.' } }, 'One.'],
    [{ error: 'Two.' }, 'Two.'],
    [{ statusCode: 401, message: 'Three.' }, 'Three.'],
    [{ detail: 'Four.' }, 'Four.'],
    [{ detail: [{ msg: 'Five.' }] }, 'Five.'],
    [[{ error: { message: 'Six.' } }], 'Six.'],
    [
      { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"Seven."}}' } } },
      'Provider returned error: Seven.',
    ],
    ['Eight.', 'Eight.'],
    ['<!doctype html><p>Nine', null],
    [{}, null],
    [null, null],
  ] as const) {
    it(`are found in ${JSON.stringify(body)}`, () => {
      expect(readErrorMessage(body)).to.equal(sentence);
    });
  }

  it('lose saved keys, what looks like a key, and line breaks, and end after 500 characters', () => {
    const clean = (text: string) => cleanMessage(text, { api_key: 'my-own-secret', model: 'gpt-4.1' });
    expect(clean('Key my-own-secret is bad.')).to.equal('Key [redacted] is bad.');
    expect(clean('Key sk-or-v1-0123456789abcdef is bad.')).to.equal('Key [redacted] is bad.');
    expect(clean('Key AIzaSyA-1234567890 is bad.')).to.equal('Key [redacted] is bad.');
    expect(clean('Bearer abc.def is bad.')).to.equal('[redacted] is bad.');
    expect(clean('Key 0123456789abcdef0123456789abcdef is bad.')).to.equal('Key [redacted] is bad.');
    expect(clean('Request 1b4e28ba-2fa1-11d2-883f-0016d3cca427 to gpt-4.1 failed.')).to.equal(
      'Request 1b4e28ba-2fa1-11d2-883f-0016d3cca427 to gpt-4.1 failed.',
    );
    expect(clean('a\r\n\tb')).to.equal('a b');
    expect(clean('word '.repeat(200))).to.have.length(500);
  });

  for (const [what, headers, body, seconds] of [
    ['seconds', { 'retry-after': '3' }, {}, 3],
    ['a date', { 'retry-after': new Date(clock.now() + 9000).toUTCString() }, {}, 9],
    ['a date gone by', { 'retry-after': new Date(clock.now() - 9000).toUTCString() }, {}, 0],
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '2' }, {}, 1.5],
    [
      'Google’s RetryInfo',
      {},
      {
        error: {
          message: 'x',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '30.5s' }],
        },
      },
      30.5,
    ],
    ['nonsense', { 'retry-after': 'soon' }, {}, null],
    ['nothing', {}, {}, null],
  ] as const) {
    it(`tell how long to wait in ${what}`, () => {
      expect(
        errorFromResponse({ status: 429, headers: new Headers(headers as Record<string, string>), body }, connection)
          .retryAfter,
      ).to.equal(seconds);
    });
  }
});

describe('The table of parameters', () => {
  it('names every provider and the wire name of every key', async () => {
    const table = renderParamsTable(createProviderRegistry({ hooks: createHooks() }).all());
    const lines = table.trim().split('\n');
    expect(lines[0]).to.equal(
      '| `ai_params` | OpenAI | Azure | Google | OpenRouter | Claude | DeepSeek | xAI | Ollama |',
    );
    expect(lines).to.have.length(11);
    expect(lines).to.include(
      '| `max_completion_tokens` | `max_completion_tokens` | `max_completion_tokens` | `maxOutputTokens` | `max_tokens` | `max_tokens` | `max_tokens` | `max_completion_tokens` | `max_tokens` |',
    );
    expect(lines).to.include('| `top_k` | – | – | `topK` | `top_k` | `top_k` | – | – | – |');
  });

  it('stands in the README as it is', async () => {
    const readme = readFileSync(new URL('../../../plugins/svc/providers/README.md', import.meta.url), 'utf8');
    // Prettier pads the cells of the README.
    const unpadded = readme.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---');
    expect(unpadded).to.contain(renderParamsTable(createProviderRegistry({ hooks: createHooks() }).all()));
  });
});
