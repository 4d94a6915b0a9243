import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LocalServer {
  /** Listens on a free loopback port. A second call returns the same `http://127.0.0.1:<port>`. */
  start(): Promise<string>;
  /** Destroys what is open and frees the port. The server can be started again, on another port. */
  stop(): Promise<void>;
}

/** A server for this machine alone, which does not keep the process running. */
export function createLocalServer(respond: RequestListener): LocalServer {
  let listening: Promise<Server> | null = null;
  const listen = async (): Promise<Server> => {
    const server = createServer(respond);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return server.unref();
  };
  return {
    async start() {
      listening ??= listen().catch((error: unknown) => {
        listening = null;
        throw error;
      });
      return `http://127.0.0.1:${String(((await listening).address() as AddressInfo).port)}`;
    },
    async stop() {
      const server = await listening;
      listening = null;
      if (!server) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
