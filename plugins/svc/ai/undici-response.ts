import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { setResponseStream } from '../kit/response-stream.ts';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * A response of undici's `request` in the shape of a `Response`. Text and JSON are read directly from the socket's stream; a
 * web stream, and a real Response for the rest, are created on demand.
 */
export function undiciResponse(url: string, { statusCode, headers, body }: Dispatcher.ResponseData): Response {
  const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined;
  // Errors reach the reader through the decoder.
  const stream: Readable = decoder === undefined ? body : pipeline(body, decoder, () => undefined);
  const list = headersOf(headers, decoder !== undefined);
  let whole: Response | undefined;
  const response = (): Response =>
    (whole ??= new Response(hasNoBody(statusCode) ? null : webStream(stream), { status: statusCode, headers: list }));
  const text = (): Promise<string> => (decoder === undefined && whole === undefined ? body.text() : response().text());
  const shaped: Partial<Response> = {
    url,
    status: statusCode,
    ok: statusCode >= 200 && statusCode < 300,
    statusText: '',
    redirected: false,
    type: 'basic',
    headers: list,
    text,
    json: async () => JSON.parse(await text()) as unknown,
    get body() {
      return response().body;
    },
    get bodyUsed() {
      return whole?.bodyUsed ?? body.bodyUsed;
    },
    arrayBuffer: () => response().arrayBuffer(),
    blob: () => response().blob(),
    formData: () => response().formData(),
    clone: () => response().clone(),
  };
  if (!hasNoBody(statusCode)) setResponseStream(shaped as Response, stream);
  return shaped as Response;
}

function headersOf(raw: Dispatcher.ResponseData['headers'], decoded: boolean): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    if (decoded && (name === 'content-encoding' || name === 'content-length')) continue;
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  }
  return headers;
}

/** Statuses of responses without a body. */
function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function webStream(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>;
}
