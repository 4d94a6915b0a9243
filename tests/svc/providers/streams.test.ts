import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { openUpstreamFetch } from '../../helpers/upstream-http.ts';
import { readEvents } from '../../../plugins/svc/providers/streams/read-events.ts';
import {
  createReasoningFilter,
  createReasoningHabits,
  isReasoningModel,
  stripReasoning,
} from '../../../plugins/svc/providers/chat-completions/strip-reasoning.ts';
import type { Provider, ProviderError } from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry, type ProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { connectionTo, requestTo } from '../../conformance/exchange.ts';
import { streamed, streamOf, titleOf } from '../../conformance/upstream.ts';
import { upstreams } from '../../conformance/upstreams.ts';
import { describeTextStream } from '../../conformance/text-stream.ts';
import { failureOf } from '../../helpers/failure-of.ts';

let registry: ProviderRegistry;
const find = (id: string): Provider => registry.get(id)!;

describe('Text providers that stream', () => {
  before(async () => {
    registry = createProviderRegistry({ hooks: createHooks() });
  });

  for (const upstream of upstreams) describeTextStream(titleOf(upstream), upstream, () => find(upstream.id));

  it('are not asked for the usage where the interface is too old to know the wish', async () => {
    const old = { ...upstreams.find(({ settings }) => settings.api_version === '2024-10-21')! };
    const bodies: string[] = [];
    const fetch: typeof globalThis.fetch = (_input, init) => {
      bodies.push(String(init?.body));
      return Promise.resolve(new Response(streamOf('azure'), { headers: { 'content-type': 'text/event-stream' } }));
    };
    const settings = { ...old.settings, api_version: '2024-02-01' };
    await find('azure').text!.stream!(requestTo(old), connectionTo(old, { fetch, settings }), () => undefined);
    expect(bodies.map((body) => 'stream_options' in (JSON.parse(body) as object))).to.deep.equal([false]);
  });

  const claudeEvents = (...last: readonly object[]): string =>
    [
      { type: 'message_start', message: { model: 'c', content: [], stop_reason: null, usage: { input_tokens: 3 } } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
      ...last,
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('');
  const streamClaude = (body: string) => {
    const upstream = upstreams.find(({ id }) => id === 'claude')!;
    const fetch: typeof globalThis.fetch = () =>
      Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    return find('claude').text!.stream!(requestTo(upstream), connectionTo(upstream, { fetch }), () => undefined);
  };

  it('are complete once Claude has said why its text ended, without the last event too', async () => {
    const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } };
    expect((await streamClaude(claudeEvents(end))).content).to.equal('Hello.');
    expect(await failureOf(streamClaude(claudeEvents()))).to.have.property('message', 'its response ended early.');
  });

  it('fail with the message of an error that is no event of Claude’s', async () => {
    const failure = await failureOf(streamClaude(claudeEvents({ error: 'Out of order.' })));
    expect(failure).to.have.property('message', 'Out of order.');
  });

  const [whole, beginning, nothing] = [
    { in: 1_000, out: 500 },
    { in: 1_000, out: null },
    { in: 0, out: 0 },
  ];
  type Counted = { readonly in: number; readonly out: number | null };
  const events: Readonly<Record<string, (used: Counted, text: string) => object>> = {
    openai: (used, content) => ({
      choices: [{ delta: { content } }],
      usage: { prompt_tokens: used.in, completion_tokens: used.out, total_tokens: used.in + (used.out ?? 0) },
    }),
    claude: (used, text) => ({
      type: text === '' ? 'message_delta' : 'message_start',
      message: { content: [], usage: { input_tokens: used.in, output_tokens: used.out } },
      usage: { input_tokens: used.in, output_tokens: used.out },
    }),
    google: (used, text) => ({
      candidates: [{ content: { parts: [{ text }] } }],
      usageMetadata: {
        promptTokenCount: used.in,
        ...(used.out !== null && { candidatesTokenCount: used.out }),
        totalTokenCount: used.in + (used.out ?? 0),
      },
    }),
  };
  const usageOf = async (id: string, used: readonly object[]): Promise<ProviderError['reported']> => {
    const upstream = upstreams.find((one) => one.id === id)!;
    const body = used.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const fetch: typeof globalThis.fetch = () =>
      Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    const connection = connectionTo(upstream, { fetch });
    return (
      (await failureOf(find(id).text!.stream!(requestTo(upstream), connection, () => undefined))) as ProviderError
    ).reported;
  };
  for (const [id, eventOf] of Object.entries(events))
    it(`keep the usage that one of 0 follows, and that beside an error and in it: ${id}`, async () => {
      const counted = { input_tokens: 1_000, output_tokens: 500, total_tokens: 1_500 };
      const cut = await usageOf(id, [eventOf(whole, 'Hello.'), eventOf(nothing, '')]);
      expect(cut?.usage).to.deep.equal(counted);
      const { usage, usageMetadata } = eventOf(whole, '') as Record<string, unknown>;
      const error = { message: 'Overloaded.' };
      for (const event of [{ error, usage, usageMetadata }, { error: { ...error, usage, usageMetadata } }])
        expect((await usageOf(id, [event]))?.usage).to.deep.equal(counted);
    });

  it('say that Google has not counted the text of a stream that ended early', async () => {
    const reported = await usageOf('google', [events['google']!(beginning, 'Hello.')]);
    expect(reported).to.include({ isPartial: true, written: 'Hello.' });
  });

  it('are not asked for the usage again where the upstream refused to send it', async () => {
    const upstream = upstreams.find(({ id }) => id === 'ollama')!;
    const asked: boolean[] = [];
    const fetch: typeof globalThis.fetch = (_input, init) => {
      const wished = String(init?.body).includes('stream_options');
      asked.push(wished);
      return Promise.resolve(
        wished
          ? new Response('{"error":{"message":"Unrecognized request argument supplied: stream_options"}}', {
              status: 400,
              headers: { 'content-type': 'application/json' },
            })
          : new Response(streamOf('ollama'), { headers: { 'content-type': 'text/event-stream' } }),
      );
    };
    const settings = { ...upstream.settings, base_url: 'http://127.0.0.1:1/v1' };
    for (let turn = 0; turn < 2; turn += 1) {
      const { content } = await find('ollama').text!.stream!(
        requestTo(upstream),
        connectionTo(upstream, { fetch, settings }),
        () => undefined,
      );
      expect(content).to.equal(streamed);
    }
    expect(asked).to.deep.equal([true, false, false]);
  });
});

describe('Streams of providers over real connections', () => {
  let server: Server;
  let origin: string;
  let answer: (response: ServerResponse) => void;
  const pool = openUpstreamFetch();
  before(async () => {
    registry = createProviderRegistry({ hooks: createHooks() });
    server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      answer(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await pool.close();
  });

  for (const upstream of upstreams) {
    const settings = {
      ...upstream.settings,
      base_url: upstream.settings.base_url!.replace(/^https?:\/\/[^/]+/, () => origin),
    };
    const events = streamOf(upstream.format ?? upstream.id).split(/(?<=\r?\n\r?\n)/);
    const half = events.findIndex((event) => event.includes('日本'));
    const start = (init: { signal?: AbortSignal; timeout?: number; clock?: ReturnType<typeof createFakeClock> }) => {
      let tell: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => {
        tell = resolve;
      });
      const own = { ...settings, base_url: upstream.settings.base_url!.replace(/^https?:\/\/[^/]+/, origin) };
      return {
        begun,
        done: find(upstream.id).text!.stream!(
          requestTo(upstream),
          connectionTo(upstream, { fetch: pool.fetch, ...init, settings: own }),
          () => tell(),
        ),
      };
    };
    /** Sends the first half, and then nothing. */
    const stalling = (): Promise<string> =>
      new Promise((resolve) => {
        answer = (response) => {
          response.write(events.slice(0, half).join(''));
          response.once('close', () => resolve(response.writableFinished ? 'finished' : 'ended by its caller'));
        };
      });

    describe(titleOf(upstream), () => {
      it('hand on each piece before the next is sent', async () => {
        let next: () => void = () => undefined;
        answer = (response) => {
          let index = 0;
          next = () => {
            while (index < events.length) {
              const event = events[index++]!;
              response.write(event);
              if (/Bon|jour|日本/.test(event) && !event.includes(streamed)) return;
            }
            response.end();
          };
          next();
        };
        const pieces: string[] = [];
        const own = { ...settings, base_url: upstream.settings.base_url!.replace(/^https?:\/\/[^/]+/, origin) };
        const { content } = await find(upstream.id).text!.stream!(
          requestTo(upstream),
          connectionTo(upstream, { fetch: pool.fetch, settings: own }),
          (piece) => {
            pieces.push(piece);
            if (/Bon|jour|日本/.test(piece)) next();
          },
        );
        expect([content, pieces.join('')]).to.deep.equal([streamed, streamed]);
      });

      it('end the upstream’s request when the caller gives up', async () => {
        const ended = stalling();
        const controller = new AbortController();
        const { begun, done } = start({ signal: controller.signal });
        const failure = failureOf(done);
        await begun;
        controller.abort();
        expect(((await failure) as ProviderError).kind).to.equal('aborted');
        expect(await ended).to.equal('ended by its caller');
      });

      it('end it when the time limit is over, which is for the whole', async () => {
        const ended = stalling();
        const clock = createFakeClock();
        const { begun, done } = start({ clock, timeout: 1000 });
        const failure = failureOf(done);
        await begun;
        await clock.advance(1000);
        expect(((await failure) as ProviderError).kind).to.equal('timeout');
        expect(await ended).to.equal('ended by its caller');
      });
    });
  }
});

describe('Reading server-sent events', () => {
  const read = async (...pieces: Uint8Array[]) => {
    const events: { event?: string | undefined; data: string }[] = [];
    const body = new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    await readEvents(
      { response: new Response(body), connection: connectionTo(upstreams[0]!, {}) },
      { take: ({ event, data }) => events.push({ event, data }) < 0, whole: () => undefined, isComplete: () => true },
    );
    return events;
  };

  it('refuses an event that does not end', async () => {
    const piece = Buffer.alloc(1_048_576, 'x');
    const failure = await failureOf(read(...Array.from({ length: 20 }, () => piece)));
    expect((failure as ProviderError).kind).to.equal('unreadable');
    expect((failure as ProviderError).message).to.include('an event that does not end');
  });

  it('joins lines of data, keeps names, and passes over a mark at the beginning', async () => {
    const bytes = Buffer.from('\uFEFFevent: a\ndata: 1\ndata:2\nid: x\n\ndata\n\nevent: lost\n\ndata: lást');
    const events = [
      { event: 'a', data: '1\n2' },
      { event: undefined, data: '' },
      { event: undefined, data: 'lást' },
    ];
    expect(await read(bytes)).to.deep.equal(events);
    expect(await read(...Array.from(bytes, (_, index) => bytes.subarray(index, index + 1)))).to.deep.equal(events);
  });
});

describe('Reasoning that stands before the text', () => {
  for (const text of [
    'Plain.',
    '<think>a</think>\n\nText <think>b</think>',
    ' \n<think>a',
    '<thinking> is a tag',
    '  ',
    '<think></think>',
    '<think>a</think>  <think>b</think> c',
    '<',
    '',
  ]) {
    it(`is left out of pieces as it is of the whole: ${JSON.stringify(text)}`, () => {
      for (const size of [1, 2, 3, 50]) {
        const filter = createReasoningFilter();
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${String(size)}}`, 'g')) ?? [];
        expect(pieces.map((piece) => filter.push(piece)).join('') + filter.end()).to.equal(stripReasoning(text));
      }
    });
  }

  const answers = 'Hello!';
  /** What DeepSeek, Qwen and GLM send where the template opened the tag, and what merely speaks of it. */
  const lone: Readonly<Record<string, string>> = {
    'Let me think.\n</think>\n\nHello!': answers,
    'secret</think>Hello!': answers,
    'secret.</think> Hello!': answers,
    'Let me\nthink</think>\nHello!': answers,
    '</think>\n\nHello!': answers,
    'I could write `</think>` here.\nsecret</think>Hello!': answers,
    'A user asks.\n```\n</think>\n```\nI see.\n</think>\nHello!': answers,
    'Hello!\n```\n</think>\n```\nIt ends there.': 'Hello!\n```\n</think>\n```\nIt ends there.',
    'Write `</think>` at the end.': 'Write `</think>` at the end.',
    'Write "</think>" at the end.': 'Write "</think>" at the end.',
    'The tag </think> ends it.': 'The tag </think> ends it.',
    'It ends with </think>': 'It ends with </think>',
    'It ends with </think>.': 'It ends with </think>.',
    'Text <think>b</think>': 'Text <think>b</think>',
    'Between <think> and\nthe other</think>one is its thought.':
      'Between <think> and\nthe other</think>one is its thought.',
  };
  for (const [text, expected] of Object.entries(lone))
    it(`ends at a closing tag alone, unless that is mentioned: ${JSON.stringify(text)}`, () => {
      expect(stripReasoning(text)).to.equal(expected);
      for (const size of [1, 2, 5, 50]) {
        const filter = createReasoningFilter(true);
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${String(size)}}`, 'g')) ?? [];
        expect(pieces.map((piece) => filter.push(piece)).join('') + filter.end(), String(size)).to.equal(expected);
        expect(filter.hadLoneClosing()).to.equal(expected === answers);
      }
    });

  it('ends between spaces too, for models that are known for it', () => {
    for (const model of [
      'deepseek-ai/DeepSeek-V3.1',
      'Qwen/Qwen3-30B-A3B-Thinking-2507',
      'deepseek-r1:8b',
      'zai-org/GLM-4.6',
    ])
      expect(stripReasoning('secret </think> Hello!', isReasoningModel(model)), model).to.equal(answers);
    expect(['gpt-4.1', 'llama3.2', 'mistral-small'].some(isReasoningModel)).to.equal(false);
  });

  const many = (piece: string): string[] => Array<string>(100_000).fill(piece);
  for (const [title, pieces] of [
    ['blank ones', many('\n')],
    ['lines after a tag that is mentioned', ['A "</think>" is\n', ...many('x\n')]],
    ['blank lines after a tag that may end it', ['So "</think>"', ...many('\n'), 'Hello!']],
    ['letters of a thought', ['<think>', ...many('x')]],
    ['letters', many('x')],
  ] as const)
    it(`is looked for once in a text of 100,000 pieces: ${title}`, () => {
      for (const thinks of [false, true]) {
        const filter = createReasoningFilter(true, thinks);
        const before = process.cpuUsage().user;
        const shown = pieces.map((piece) => filter.push(piece)).join('') + filter.end();
        // Some tenths of a second; each piece that reads all before it takes ten seconds and more.
        expect((process.cpuUsage().user - before) / 1e6, 'seconds').to.be.below(3);
        expect(shown === stripReasoning(pieces.join(''), thinks)).to.equal(true);
      }
    });

  it('holds back the next 20 texts of a model that wrote a closing tag alone, and then streams again', () => {
    const { holds, note } = createReasoningHabits(false);
    note('some-model', true);
    for (let text = 0; text < 20; text += 1) {
      expect(holds('some-model', {}), `text ${String(text)}`).to.equal(true);
      note('some-model', false);
    }
    expect(holds('some-model', {})).to.equal(false);
  });

  it('never holds back texts of models whose servers separate reasoning, whatever they wrote', () => {
    const { holds, note } = createReasoningHabits(() => true);
    for (const model of ['gpt-4.1-mini', 'openai/gpt-5.6', 'o3']) {
      note(model, true);
      expect(holds(model, {}), model).to.equal(false);
    }
    note('o-model', true);
    expect(holds('o-model', {})).to.equal(true);
  });

  it('holds nothing back once the server has sent reasoning beside the text', () => {
    const filter = createReasoningFilter(true);
    filter.separate();
    expect([filter.push('Hel'), filter.push('lo!')].join('')).to.equal('Hello!');
  });
});
