import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Asked, FakeResponse } from './embedding-upstream.ts';

export interface Relayed extends Asked {
  readonly method: string;
  /** Of the body as it came. */
  readonly bytes: number;
}

/** Notes every request, then passes it on to the stand-ins of the vector stores, or answers it in their place. */
export interface VectorRelay {
  readonly origin: string;
  /** Oldest first. */
  readonly asked: Relayed[];
  /** Those whose body holds vectors to write. */
  writes(): Relayed[];
  /** Takes the place of the last script; forgets what was asked. */
  script(script?: (asked: Relayed, writes: number) => FakeResponse | undefined): void;
  stop(): Promise<void>;
}

const isWrite = ({ path, method }: Pick<Relayed, 'path' | 'method'>): boolean =>
  /\/upsert$/.test(path) || (method === 'PUT' && /\/points(\?|$)/.test(path));

/** @param target origin of the stand-ins. */
export async function startVectorRelay(target: string): Promise<VectorRelay> {
  const asked: Relayed[] = [];
  let current: (asked: Relayed, writes: number) => FakeResponse | undefined = () => undefined;
  let origin = '';
  const server = createServer((request, response) => void relay(request, response));

  async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const raw = Buffer.concat(parts);
    const one: Relayed = {
      path: request.url ?? '',
      method: request.method ?? '',
      headers: request.headers,
      bytes: raw.length,
      body: JSON.parse(raw.toString() || '{}') as Asked['body'],
    };
    asked.push(one);
    const own = current(one, asked.filter(isWrite).length);
    if (own?.instead === 'hang') return;
    if (own !== undefined) {
      response.writeHead(own.status ?? 200, { 'content-type': 'application/json', ...own.headers });
      response.end(typeof own.body === 'string' ? own.body : JSON.stringify(own.body ?? {}));
      return;
    }
    const {
      host: _host,
      connection: _connection,
      'content-length': _length,
      'transfer-encoding': _encoding,
      ...headers
    } = request.headers as Record<string, string>;
    const answer = await fetch(`${target}${one.path}`, {
      method: one.method,
      headers,
      ...(raw.length > 0 && { body: raw }),
    });
    // Pinecone's control plane tells where its indexes are.
    const text = (await answer.text()).replaceAll(target, origin);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(answer.status === 204 ? undefined : text);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    origin,
    asked,
    writes: () => asked.filter(isWrite),
    script(script = () => undefined) {
      current = script;
      asked.length = 0;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
