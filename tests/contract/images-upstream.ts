import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync, crc32 } from 'node:zlib';

export interface ImageCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ImagesAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and texts are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  /** `hang`: never answers. */
  readonly instead?: 'hang';
}

/** An upstream that makes images as the test tells it to, and gives their files. */
export interface ImagesUpstream {
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** POSTs, oldest first. */
  readonly calls: ImageCall[];
  /** Paths of GETs, oldest first. */
  readonly fetched: string[];
  /** What POSTs get; `place` counts them from 0. */
  answer(how: (call: ImageCall, place: number) => ImagesAnswer): void;
  /** What GETs of a path get, one after the other; the last one stays. */
  file(path: string, ...answers: readonly ImagesAnswer[]): void;
  /** Resolves when so many POSTs have come. */
  asked(count: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startImagesUpstream(): Promise<ImagesUpstream> {
  const calls: ImageCall[] = [];
  const fetched: string[] = [];
  const files = new Map<string, readonly ImagesAnswer[]>();
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let how: (call: ImageCall, place: number) => ImagesAnswer = () => ({});

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const { method = '', url: path = '', headers } = request;
    if (method === 'GET') {
      fetched.push(path);
      const [answer = { status: 404, body: 'none' }, ...later] = files.get(path) ?? [];
      if (later.length > 0) files.set(path, later);
      return send(response, answer);
    }
    const call = { method, path, headers, body: await bodyOf(Buffer.concat(parts), headers['content-type'] ?? '') };
    calls.push(call);
    const answer = how(call, calls.length - 1);
    waiting = waiting.filter(({ count, resolve }) => calls.length < count || resolve());
    send(response, answer);
  }
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    calls,
    fetched,
    answer(next) {
      how = next;
      calls.length = 0;
      fetched.length = 0;
      files.clear();
    },
    file: (path, ...answers) => void files.set(path, answers),
    asked: (count) =>
      calls.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** JSON, or the fields of a form: texts as they are, files as their bytes. */
async function bodyOf(bytes: Buffer, type: string): Promise<ImageCall['body']> {
  if (!type.startsWith('multipart/')) return JSON.parse(bytes.toString() || '{}') as ImageCall['body'];
  const fields: Record<string, unknown> = {};
  for (const [name, value] of await new Response(bytes, { headers: { 'content-type': type } }).formData())
    fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer());
  return fields;
}

function send(response: ServerResponse, { status = 200, headers = {}, body = {}, instead }: ImagesAnswer): void {
  if (instead === 'hang') return;
  const raw = typeof body === 'string' || Buffer.isBuffer(body);
  response.writeHead(status, { 'content-type': raw ? 'application/octet-stream' : 'application/json', ...headers });
  response.end(raw ? body : JSON.stringify(body));
}

/** A real PNG of one colour. @param shade 0 to 255: tells images apart. */
export function png(shade: number, { width = 2, height = 3 } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.concat(
    Array.from({ length: height }, () => Buffer.from([0, ...Array<number>(width).fill(shade)])),
  );
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
