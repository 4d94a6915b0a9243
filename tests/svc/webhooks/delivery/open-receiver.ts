import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server as SocketServer,
  type Socket,
} from 'node:net';
import type { Clock } from '#plugin-api';
import { createOutbound, type Outbound } from '../../../../host/http/outbound.ts';
import type { AttemptRequest } from '../../../../plugins/svc/webhooks/delivery/deliver.contract.ts';
import { createSystemClock } from '../../../../host/clock.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface Receiver {
  readonly port: number;
  /** Every request, in order of arrival, body read whole. */
  readonly received: Received[];
  readonly connections: () => number;
  /** What it answers from now on. */
  answer: RequestListener;
  close(): Promise<void>;
}

/** A real server on a free loopback port that keeps what it gets. */
export async function openReceiver(address = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        received.push({
          method: request.method ?? '',
          path: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(parts),
        });
        receiver.answer(request, response);
      });
  });
  server.on('connection', () => (connections += 1));
  const receiver: Receiver = {
    port: await listening(server, address),
    received,
    connections: () => connections,
    answer: (_request, response) => void response.writeHead(204).end(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** A server of bare sockets, for answers no HTTP library would give. */
export async function openSocketServer(
  onConnection: (socket: Socket) => void,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  return {
    port: await listening(server, '127.0.0.1'),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listening(server: Pick<SocketServer, 'listen' | 'address'>, address: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return (server.address() as AddressInfo).port;
}

/** The guarded fetch with made-up names; a name that is not listed does not exist. */
export function openOutbound(
  names: Readonly<Record<string, readonly string[]>>,
  clock: Pick<Clock, 'after'> = createSystemClock(),
): Outbound {
  const resolve = (name: string) => {
    const addresses = names[name];
    return addresses
      ? Promise.resolve(addresses)
      : Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
  };
  return createOutbound({ clock, resolve });
}

export function attempt(url: string, changes: Partial<AttemptRequest> = {}): AttemptRequest {
  return {
    url,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: Buffer.from('{"a":"é"}'),
    timeout: 5000,
    redirects: 2,
    allowInternal: false,
    ...changes,
  };
}
