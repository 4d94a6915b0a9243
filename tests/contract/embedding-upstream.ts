import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FakeResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** `hang`: never answers. `cut`: ends the connection in mid-body. */
  readonly instead?: 'hang' | 'cut';
}

/** Answers a request, or leaves it to the upstream's own way. */
export type Script = (asked: Asked, count: number) => FakeResponse | undefined;

/** An upstream that creates embeddings in OpenAI's format and in Google's, near the way the real ones do. */
export interface EmbeddingUpstream {
  readonly origin: string;
  /** Oldest first. */
  readonly asked: Asked[];
  /** Takes the place of the last script; forgets what was asked. `count` begins at 1. */
  script(script?: Script): void;
  stop(): Promise<void>;
}

/** Numbers of few digits, made of the text alone; not of unit length. */
export function vectorOf(text: string, dimensions = 8): number[] {
  let state = [...text].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 2147483647, 7);
  return Array.from({ length: dimensions }, () => {
    state = (state * 48271) % 2147483647;
    return Math.round((state / 2147483647 - 0.5) * 10_000) / 10_000;
  });
}

export function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, place) => bytes.writeFloatLE(value, place * 4));
  return bytes.toString('base64');
}

export function openAiAnswer({ body }: Pick<Asked, 'body'>): Record<string, unknown> {
  const input = body['input'] as readonly string[];
  const vectors = input.map((text) => vectorOf(text, body['dimensions'] as number | undefined));
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: body['encoding_format'] === 'base64' ? base64Of(vector) : vector,
  }));
  return {
    object: 'list',
    data,
    model: `${String(body['model'])}-answered`,
    usage: { prompt_tokens: input.length * 3, total_tokens: input.length * 3 },
  };
}

interface GoogleRequest {
  readonly content: { readonly parts: readonly { readonly text: string }[] };
  readonly outputDimensionality?: number;
}

export function googleAnswer({ body }: Pick<Asked, 'body'>): Record<string, unknown> {
  const requests = body['requests'] as readonly GoogleRequest[];
  return {
    embeddings: requests.map(({ content, outputDimensionality }) => ({
      values: vectorOf(content.parts.map(({ text }) => text).join(''), outputDimensionality),
    })),
  };
}

export async function startEmbeddingUpstream(): Promise<EmbeddingUpstream> {
  const asked: Asked[] = [];
  let current: Script = () => undefined;
  const server = createServer((request, response) => void respond(request, response));

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const one: Asked = {
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(parts).toString() || '{}') as Asked['body'],
    };
    asked.push(one);
    const { status = 200, headers = {}, body, instead } = current(one, asked.length) ?? {};
    if (instead === 'hang') return;
    const given = body ?? (one.path.includes(':batchEmbedContents') ? googleAnswer(one) : openAiAnswer(one));
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    });
    if (instead === 'cut') response.write(text.slice(0, text.length / 2), () => response.destroy());
    else response.end(text);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    asked,
    script(script = () => undefined) {
      current = script;
      asked.length = 0;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
