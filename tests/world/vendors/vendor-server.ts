import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bodyOf, type Exchange } from './exchange.ts';

/** A server that answers each request with the recording that was set, as the vendor did. */
export interface VendorServer {
  readonly url: string;
  /** From now on every request gets this answer; requests received so far are forgotten. */
  play(exchange: Exchange): void;
  /** The last body received since then, or null. */
  received(): Readonly<Record<string, unknown>> | null;
  stop(): Promise<void>;
}

export async function startVendorServer(): Promise<VendorServer> {
  let playing: Exchange | null = null;
  let last: Readonly<Record<string, unknown>> | null = null;
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      last = body === '' ? null : (JSON.parse(body) as Readonly<Record<string, unknown>>);
      if (playing === null) return void response.writeHead(503).end();
      response.writeHead(playing.status, { ...playing.headers, 'content-type': playing.type || typeOf(playing) });
      response.end(bodyOf(playing));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play(exchange) {
      playing = exchange;
      last = null;
    },
    received: () => last,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

const typeOf = ({ text }: Exchange): string => (text === undefined ? 'application/json' : 'text/event-stream');

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
