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
  const response = new UndiciResponse({
    url,
    status: statusCode,
    headers: headersOf(headers, decoder !== undefined),
    stream,
    plain: decoder === undefined ? body : null,
  }) as unknown as Response;
  if (!hasNoBody(statusCode)) setResponseStream(response, stream);
  return response;
}

interface UndiciResponseInit extends Pick<Response, 'url' | 'status' | 'headers'> {
  readonly stream: Readable;
  /** undici's body, unless it is compressed. */
  readonly plain: Dispatcher.ResponseData['body'] | null;
}

/** A class, because V8 keeps what the getters of an object literal refer to until the next full garbage collection. */
class UndiciResponse implements Omit<Response, 'bytes'> {
  readonly url: string;
  readonly status: number;
  readonly ok: boolean;
  readonly statusText = '';
  readonly redirected = false;
  readonly type = 'basic';
  readonly headers: Headers;
  readonly #stream: Readable;
  readonly #plain: UndiciResponseInit['plain'];
  #whole: Response | undefined;

  constructor({ url, status, headers, stream, plain }: UndiciResponseInit) {
    this.url = url;
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.headers = headers;
    this.#stream = stream;
    this.#plain = plain;
  }

  text(): Promise<string> {
    return this.#plain === null || this.#whole !== undefined ? this.#response().text() : this.#plain.text();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }

  get body(): Response['body'] {
    return this.#response().body;
  }

  get bodyUsed(): boolean {
    return this.#whole?.bodyUsed ?? Readable.isDisturbed(this.#stream);
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#response().arrayBuffer();
  }

  blob(): Promise<Blob> {
    return this.#response().blob();
  }

  formData(): Promise<FormData> {
    return this.#response().formData();
  }

  clone(): Response {
    return this.#response().clone();
  }

  #response(): Response {
    const { status, headers } = this;
    return (this.#whole ??= new Response(hasNoBody(status) ? null : webStream(this.#stream), { status, headers }));
  }
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
