import { connect, type Socket } from 'node:net';

/** A request written byte by byte. */
export interface RawExchange {
  readonly socket: Socket;
  /** Waits until the text received so far matches; rejects when the connection closes before. */
  until(pattern: RegExp): Promise<string>;
  /** Waits for the end of the connection and returns all text received. */
  ended(): Promise<string>;
}

/** Opens a connection to a site and writes the text. */
export function sendRaw(url: string, text: string): RawExchange {
  let received = '';
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(text, 'latin1');
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    notify();
  });
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  return {
    socket,
    ended: () => closed,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(received)) return;
          watchers.delete(look);
          resolve(received);
        };
        watchers.add(look);
        look();
        void closed.then(() => reject(new Error(`The connection closed. Received: ${received}`)));
      }),
  };
}

/** The head of a POST with an announced length. */
export function postHead(path: string, length: number, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({
    Host: 'localhost',
    'Content-Type': 'application/json',
    'Content-Length': String(length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}
