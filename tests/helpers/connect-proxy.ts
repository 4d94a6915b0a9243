import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** A proxy for outbound requests that takes CONNECT alone, as most do for https. */
export interface ConnectProxy {
  /** `http://host:port` */
  readonly url: string;
  /** What it was asked for, in order. */
  readonly asked: { readonly target: string; readonly authorization: string | undefined }[];
  /** Names that it knows, with the port on this machine that they lead to. */
  readonly names: Map<string, number>;
  /** Answers instead of a tunnel. */
  refuse: ((socket: Socket) => void) | null;
  stop(): Promise<void>;
}

export async function startConnectProxy(): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(405).end());
  const proxy: ConnectProxy = {
    url: '',
    asked: [],
    names: new Map(),
    refuse: null,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  server.on('connect', ({ url = '', headers }: IncomingMessage, socket: Socket) => {
    proxy.asked.push({ target: url, authorization: headers['proxy-authorization'] });
    socket.on('error', () => undefined);
    if (proxy.refuse !== null) return proxy.refuse(socket);
    const port = proxy.names.get(url);
    if (port === undefined) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    sockets.add(upstream);
    upstream.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(proxy, { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` });
}
