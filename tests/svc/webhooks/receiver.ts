import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** What it answers from now on: a status, or `hang`. Called with each request when it is a function. */
  answer: number | 'hang' | ((request: Received) => number | 'hang');
  /** From now on requests wait for their answer. */
  hold(): void;
  /** Answers those that wait, and from now on all at once. */
  release(answer: number, text?: string): void;
  /** Resolves when so many requests have come. */
  count(number: number): Promise<void>;
  stop(): Promise<void>;
}

/** A real HTTP server that keeps what it gets. */
export async function startReceiver(): Promise<Receiver> {
  const waiting = new Set<() => void>();
  let held: ServerResponse[] | null = null;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const one = { headers: request.headers, body: Buffer.concat(parts).toString(), at: performance.now() };
      receiver.received.push(one);
      const answer = typeof receiver.answer === 'function' ? receiver.answer(one) : receiver.answer;
      if (held !== null) held.push(response);
      else if (answer !== 'hang') response.writeHead(answer, { 'x-answer': 'yes' }).end('ok');
      for (const look of waiting) look();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`,
    received: [],
    answer: 200,
    hold: () => void (held ??= []),
    release(answer, text = 'late') {
      for (const response of held ?? []) response.writeHead(answer, { 'x-answer': 'yes' }).end(text);
      held = null;
    },
    count: (number) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (receiver.received.length < number) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
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
