import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const moods = ['answers', 'refuses', 'fails', 'babbles', 'hangs up'] as const;
export type Mood = (typeof moods)[number];

/** An upstream of every provider and store that says back whatever it is told: in headers, errors and members nobody reads. */
export interface EchoingUpstream {
  readonly url: string;
  /** Everything that was sent to it, headers and all. */
  readonly heard: string[];
  mood: Mood;
  stop(): Promise<void>;
}

export async function startEchoingUpstream(): Promise<EchoingUpstream> {
  const heard: string[] = [];
  const state: { mood: Mood } = { mood: 'answers' };
  const server = createServer((request, response) => void respond(request, response));

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const said = JSON.stringify({ url: request.url, headers: request.headers, body });
    heard.push(said);
    const key = String(
      request.headers['authorization'] ??
        request.headers['x-api-key'] ??
        request.headers['x-goog-api-key'] ??
        request.headers['api-key'] ??
        request.headers['x-chroma-token'] ??
        '',
    ).replace(/^Bearer /i, '');
    const send = (status: number, value: unknown): void => {
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-echo': key,
        'www-authenticate': `Bearer realm="${key}"`,
        'set-cookie': `key=${key}`,
      });
      response.end(typeof value === 'string' ? value : JSON.stringify(value));
    };
    if (state.mood === 'hangs up') request.socket.destroy();
    else if (state.mood === 'babbles') send(200, `<html>${said}</html>`);
    else if (state.mood === 'fails')
      send(500, {
        error: { message: `Unexpected failure for key ${key}`, type: key, debug: said },
        message: `key ${key}`,
        status: { error: key },
      });
    else if (state.mood === 'refuses')
      send(401, {
        error: { message: `Incorrect API key provided: ${key}. Bearer ${key} was sent.`, code: 401, status: key },
        message: `Incorrect key '${key}'`,
        detail: [key],
      });
    else send(200, { ...answerOf(request.url ?? '', body), debug: said });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    get mood() {
      return state.mood;
    },
    set mood(next) {
      state.mood = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const vector = [0.1, 0.2, 0.3];

/** An answer that fits what was asked, whoever asks. */
function answerOf(path: string, body: string): Record<string, unknown> {
  if (/embed/i.test(path)) {
    const count = /"requests"/.test(body) ? (JSON.parse(body) as { requests: unknown[] }).requests.length : 1;
    return {
      data: [{ object: 'embedding', index: 0, embedding: vector }],
      embeddings: Array.from({ length: count }, () => ({ values: vector })),
      model: 'an-embedding',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    };
  }
  if (/images\/generations/.test(path))
    return { created: 1, data: [{ b64_json: pixel }], usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } };
  if (/generateContent/.test(path)) {
    return {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ text: 'Hello.' }, { inlineData: { mimeType: 'image/png', data: pixel } }],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
    };
  }
  if (/\/messages/.test(path))
    return {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 4 },
    };
  if (/\/models/.test(path))
    return {
      object: 'list',
      data: [{ id: 'a-model', object: 'model' }],
      models: [{ name: 'models/a-model', supportedGenerationMethods: ['generateContent'] }],
    };
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'a-model',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  };
}
