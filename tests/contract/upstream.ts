import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface UpstreamResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** `hang`: never answers. `cut`: ends the connection in mid-body. */
  readonly instead?: 'hang' | 'cut';
}

/** An upstream that speaks Chat Completions and answers what the test tells it to. */
export interface Upstream {
  /** With the version, as a provider's base URL. */
  readonly url: string;
  /** Bodies of the requests, oldest first. */
  readonly requests: Readonly<Record<string, unknown>>[];
  /** Of the last request. */
  headers(): IncomingHttpHeaders;
  /** What the next requests get, one after the other; the last one stays. */
  answer(...answers: readonly UpstreamResponse[]): void;
  /** Resolves when a request has come. */
  asked(): Promise<void>;
  stop(): Promise<void>;
}

export const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1767225600,
  model: 'far-model-0125',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
};

export async function startUpstream(): Promise<Upstream> {
  const requests: Record<string, unknown>[] = [];
  let headers: IncomingHttpHeaders = {};
  let waiting: (() => void)[] = [];
  let answers: readonly UpstreamResponse[] = [{}];

  const server = createServer((request, response) => void respond(request, response));
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    headers = request.headers;
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    requests.push(JSON.parse(Buffer.concat(parts).toString() || '{}') as Record<string, unknown>);
    for (const resolve of waiting.splice(0)) resolve();
    const [answer = {}] = answers;
    if (answers.length > 1) answers = answers.slice(1);
    if (answer.instead === 'hang') return;
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? completion);
    response.writeHead(answer.status ?? 200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...answer.headers,
    });
    if (answer.instead === 'cut') response.write(text.slice(0, text.length / 2), () => response.destroy());
    else response.end(text);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    headers: () => headers,
    answer(...next) {
      answers = next.length > 0 ? next : [{}];
      requests.length = 0;
      waiting = [];
    },
    asked: () => (requests.length > 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
