import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A network between a program and a server, which can stop to forward without a word to either. */
export interface SilentProxy {
  readonly port: number;
  /** From now on nothing is forwarded on the present connections, and nothing is reset. New ones work. */
  cut(): void;
  /** The same, and new connections are accepted without a word, until the undo that is returned resets these. */
  isolate(): () => void;
  close(): Promise<void>;
}

export async function createSilentProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let isIsolated = false;
  const silent = new Set<Socket>();
  const server = createServer((near) => {
    if (isIsolated) return void silent.add(near.on('error', () => undefined));
    const far = connect(target);
    near.pipe(far);
    far.pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        (socket === near ? far : near).destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    isolate() {
      cut();
      isIsolated = true;
      return () => {
        isIsolated = false;
        for (const socket of silent) socket.destroy();
      };
    },
    async close() {
      for (const socket of [...sockets, ...silent]) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
