import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { watchResponses } from '../helpers/watch-responses.ts';

/** What a bad receiver does with a connection once it has heard the request, or `refuses` before. */
export type Manner =
  | 'hangs'
  | 'resets at once'
  | 'resets in the head'
  | 'resets in the body'
  | 'drips its head'
  | 'drips its body'
  | 'is half open'
  | 'talks nonsense'
  | 'refuses';

export interface BadReceiver {
  readonly url: string;
  /** Connections it has had. */
  readonly connections: () => number;
  stop(): Promise<void>;
}

const drip = 20;

/** A receiver on a bare socket: what no HTTP server would do. */
export async function startBadReceiver(manner: Manner): Promise<BadReceiver> {
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let connections = 0;
  // Half open: this side has ended what it says and goes on listening.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => {
      behave(manner, { socket, repeat: (write) => timers.add(setInterval(write, drip)), whenRead: heads.wait });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const heads = watchResponses(`http://127.0.0.1:${String(port)}`, 'head');
  const stop = async (): Promise<void> => {
    heads.stop();
    for (const timer of timers) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
    await closed(server);
  };
  if (manner === 'refuses') await stop();
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    connections: () => connections,
    stop: manner === 'refuses' ? () => Promise.resolve() : stop,
  };
}

interface Behaving {
  readonly socket: Socket;
  readonly repeat: (write: () => void) => void;
  /** Once the sender, in this process, has read the heads that were written. */
  readonly whenRead: (callback: () => void) => void;
}

function behave(manner: Manner, { socket, repeat, whenRead }: Behaving): void {
  if (manner === 'resets at once') socket.resetAndDestroy();
  if (manner === 'resets in the head') socket.write('HTTP/1.1 200 OK\r\nContent-', () => socket.resetAndDestroy());
  // The status line has decided by then. A reset takes with it what was sent and has not been read.
  if (manner === 'resets in the body')
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome of it', () =>
      whenRead(() => socket.resetAndDestroy()),
    );
  if (manner === 'drips its head') {
    socket.write('HTTP/1.1 200 OK\r\nX-Long: ');
    repeat(() => socket.write('.'));
  }
  if (manner === 'drips its body') {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
    repeat(() => socket.write('.'));
  }
  if (manner === 'talks nonsense') socket.end('220 mail.example ESMTP\r\n');
  if (manner === 'is half open') socket.end();
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) =>
    server.close(() => {
      resolve();
    }),
  );
}
