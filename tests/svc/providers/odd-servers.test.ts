import { expect } from 'chai';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { provider as claude } from '../../../plugins/svc/providers/claude.provider.ts';
import { provider as google } from '../../../plugins/svc/providers/google.provider.ts';
import { provider as openai } from '../../../plugins/svc/providers/openai.provider.ts';
import type { Provider, ProviderConnection } from '../../../plugins/svc/providers/provider.ts';
import { createSystemClock } from '../../../host/clock.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { openUpstreamFetch } from '../../helpers/upstream-http.ts';

const request = { model: 'm', system: null, messages: [{ role: 'user' as const, content: 'Hi' }], params: {} };
const chunk = (content: string, finish_reason: string | null = null) =>
  JSON.stringify({ model: 'm', choices: [{ delta: { content }, finish_reason }] });
const message = (body: object) => ({ choices: [{ message: body, finish_reason: 'stop' }] });

describe('servers with an odd form of OpenAI’s interface', () => {
  const pool = openUpstreamFetch();
  let server: Server;
  let respond: RequestListener;
  before(async () => {
    server = createServer((incoming, response) => {
      incoming.resume();
      respond(incoming, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    await pool.close();
    server.close();
    server.closeAllConnections();
  });

  function connection(settings: object = {}): ProviderConnection {
    const { port } = server.address() as AddressInfo;
    return {
      settings: { api_key: 'test-key', base_url: `http://127.0.0.1:${String(port)}/v1`, ...settings },
      fetch: pool.fetch,
      clock: createSystemClock(),
      log: silentLog,
      timeout: 10_000,
    };
  }
  const sending = (type: string, body: string, status = 200): void => {
    respond = (_incoming, response) => response.writeHead(status, { 'content-type': type }).end(body);
  };
  async function stream(provider: Provider = openai, { model } = request) {
    const pieces: string[] = [];
    const result = await provider.text!.stream!({ ...request, model }, connection(), (piece) => pieces.push(piece));
    return { result, pieces };
  }

  for (const [title, type, body] of [
    [
      'events that are called JSON',
      'application/json',
      `data: ${chunk('Hel')}\n\ndata: ${chunk('lo', 'stop')}\n\ndata: [DONE]\n\n`,
    ],
    ['events after a comment', 'application/json', `: ping\r\n\r\ndata: ${chunk('Hello', 'stop')}\r\n\r\n`],
    ['a chunk on each line', 'application/x-ndjson', `${chunk('Hel')}\n${chunk('lo', 'stop')}\n`],
    ['a chunk on each line, called JSON', 'application/json', `${chunk('Hel')}\n${chunk('lo', 'stop')}`],
    ['a whole response', 'application/json', JSON.stringify(message({ content: 'Hello' }), null, 2)],
  ] as const)
    it(`are read if they stream ${title}`, async () => {
      sending(type, body);
      const { result, pieces } = await stream();
      expect([result.content, pieces.join('')]).to.deep.equal(['Hello', 'Hello']);
    });

  it('are streamed from at once when a whole text has shown that a model writes no reasoning into it', async () => {
    const events = `data: ${chunk('Hel')}\n\ndata: ${chunk('lo', 'stop')}\n\ndata: [DONE]\n\n`;
    const piecesOf = async (model: string, first: string): Promise<readonly string[]> => {
      sending('application/json', JSON.stringify(message({ content: first })));
      await openai.text!.generate({ ...request, model }, connection());
      sending('text/event-stream', events);
      return (await stream(openai, { ...request, model })).pieces;
    };
    expect(await piecesOf('plain', 'Hello')).to.deep.equal(['Hel', 'lo']);
    expect(await piecesOf('thinking', 'Let me see.\n</think>\nHello')).to.deep.equal(['Hello']);
  });

  it('are cut if chunks on lines do not end', async () => {
    sending('application/x-ndjson', `${chunk('Hel')}\n${chunk('lo')}\n`);
    expect(await failureOf(stream())).to.include({ kind: 'connection' });
  });

  it('are asked once for a text that Google would continue: each request is billed', async () => {
    const part = { candidates: [{ content: { parts: [{ text: 'Hel' }] }, continuationToken: 'bmV4dA==' }] };
    let requests = 0;
    respond = (_incoming, response) => {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(part));
    };
    const { port } = server.address() as AddressInfo;
    const base_url = `http://127.0.0.1:${String(port)}`;
    await google.text!.generate(request, connection({ base_url })).catch(() => null);
    expect(requests).to.equal(1);
  });

  it('may give tool calls no id: each gets one', async () => {
    const call = { function: { name: 'find', arguments: '{}' } };
    sending('application/json', JSON.stringify(message({ content: null, tool_calls: [call, call] })));
    const { toolCalls = [] } = await openai.text!.generate(request, connection());
    const ids = toolCalls.map(({ id }) => id);
    expect(ids.every((id) => id.startsWith('call_'))).to.equal(true);
    expect(new Set(ids).size).to.equal(2);
    const piece = { index: 0, function: { name: 'find', arguments: '{}' } };
    sending(
      'text/event-stream',
      `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [piece] }, finish_reason: 'tool_calls' }] })}\n\ndata: [DONE]\n\n`,
    );
    expect((await stream()).result.toolCalls?.[0]?.id).to.match(/^call_/);
  });

  it('may say in a text, with status 200, what is wrong', async () => {
    sending('application/json', JSON.stringify({ error: 'The worker is out of memory.' }));
    for (const failed of [openai.text!.generate(request, connection()), stream()])
      expect(await failureOf(failed)).to.include({ kind: 'unavailable', message: 'The worker is out of memory.' });
  });

  it('are not where the base URL leads, and say so', async () => {
    sending('text/html', '<html>Not found</html>', 404);
    expect(((await failureOf(openai.text!.generate(request, connection()))) as Error).message).to.equal(
      'status 404 without a readable message. Its base URL may be wrong.',
    );
  });

  it('have models that read images where the setting names them', () => {
    const sees = (model: string, vision_models: unknown) => openai.text!.sees!(model, { vision_models });
    expect(sees('my-vision-7b', undefined)).to.equal(false);
    expect(sees('my-vision-7b', ['other', ' my-vision-* '])).to.equal(true);
    expect(sees('my-text-7b', ['my-vision-*', 7])).to.equal(false);
    expect(sees('gpt-4o', ['my-vision-*'])).to.equal(true);
  });

  it('deprecate models of Claude without a word on the console', async () => {
    const body = {
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      model: 'claude-3-opus-20240229',
    };
    sending('application/json', JSON.stringify(body));
    const written: unknown[] = [];
    const { warn } = console;
    console.warn = (...texts: unknown[]) => void written.push(texts);
    try {
      for (const model of ['claude-3-opus-20240229', 'claude-sonnet-4-5', 'claude-opus-4-6'])
        await claude.text!.generate({ ...request, model, params: { reasoning_effort: 'low' } }, connection());
      expect(written).to.deep.equal([]);
    } finally {
      console.warn = warn;
    }
  });
});
