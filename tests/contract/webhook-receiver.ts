import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came over the socket. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were written. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Milliseconds on a clock that never jumps. */
  readonly at: number;
}

/** A status, or status and headers. */
type PlainAnswer = number | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };
/** By hand what is done with the response. */
type Answer = PlainAnswer | ((response: ServerResponse) => void);

export interface WebhookReceiver {
  readonly origin: string;
  readonly url: string;
  readonly received: readonly Received[];
  /** What it answers from now on. */
  answer: PlainAnswer | ((request: Received, earlier: number) => Answer | Promise<Answer>);
  /** Resolves with the first `number` requests as soon as so many have come. */
  first(number: number): Promise<readonly Received[]>;
  /** Forgets what came. */
  forget(): void;
  stop(): Promise<void>;
}

/** A real HTTP server on the loopback that keeps the very bytes it gets. */
export async function startWebhookReceiver(
  make: (listener: Parameters<typeof createServer>[1]) => Server = (listener) =>
    createServer(listener ?? (() => undefined)),
  protocol = 'http',
): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = make((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const one: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(parts),
        at: performance.now(),
      };
      const earlier = received.push(one) - 1;
      for (const look of waiting) look();
      void answerWith(receiver.answer, { one, earlier, response });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `${protocol}://${protocol === 'http' ? '127.0.0.1' : 'localhost'}:${String((server.address() as AddressInfo).port)}`;
  const receiver: WebhookReceiver = {
    origin,
    url: `${origin}/hook`,
    received,
    answer: 200,
    first: (number) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (received.length < number) return;
          waiting.delete(look);
          resolve(received.slice(0, number));
        };
        waiting.add(look);
        look();
      }),
    forget: () => void received.splice(0),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return receiver;
}

async function answerWith(
  answer: WebhookReceiver['answer'],
  { one, earlier, response }: { readonly one: Received; readonly earlier: number; readonly response: ServerResponse },
): Promise<void> {
  const given = typeof answer === 'function' ? await answer(one, earlier) : answer;
  if (typeof given === 'function') given(response);
  else if (typeof given === 'number') response.writeHead(given).end('noted');
  else response.writeHead(given.status, given.headers ?? {}).end('noted');
}
