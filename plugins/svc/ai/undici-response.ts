import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { errors, type Dispatcher } from 'undici';
import { FixedHeaders, type HeaderRecord } from '../kit/fixed-headers.ts';
import { nodeStream, type NodeStreamed } from '../kit/response-stream.ts';
import { reportBytes } from '../kit/time-limit.ts';

/** Bytes of a body that wait for a reader; the connection is paused when there are more. */
const maxWaiting = 64 * 1024;

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export interface UpstreamRequest {
  readonly url: string;
  readonly signal: AbortSignal | null;
  readonly options: Dispatcher.DispatchOptions;
}

/**
 * Sends a request with undici's `dispatch`, as `sendHop` of the host does, and resolves with its head. Text and JSON are
 * collected without a stream; a stream, a web stream and a real Response for the rest are created on demand.
 *
 * @throws the signal's reason, else undici's error; one that comes after the head is thrown by what reads the body
 */
export function sendRequest(dispatcher: Dispatcher, request: UpstreamRequest): Promise<Response> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request.options, new ResponseHandler(request, resolve, reject));
  });
}

class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #request: UpstreamRequest;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #body: ReceivedBody | null = null;

  constructor(request: UpstreamRequest, resolve: (response: Response) => void, reject: (reason: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal?.addEventListener('abort', this);
  }

  /** The signal was aborted. */
  handleEvent(): void {
    const reason = this.#request.signal?.reason as Error;
    this.#fail(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborted while it waited for a connection.
    if (this.#request.signal?.aborted) controller.abort(this.#request.signal.reason as Error);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: RawHeaders): void {
    if (status < 200) return;
    reportBytes(this.#request.signal);
    this.#body = new ReceivedBody(controller);
    const response = new UndiciResponse({ url: this.#request.url, status, headers, body: this.#body });
    this.#resolve(response as unknown as Response);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    reportBytes(this.#request.signal);
    this.#body?.add(chunk);
  }

  onResponseEnd(): void {
    this.#request.signal?.removeEventListener('abort', this);
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #fail(reason: unknown): void {
    this.#request.signal?.removeEventListener('abort', this);
    if (this.#body === null) this.#reject(reason);
    else this.#body.fail(reason as Error);
  }
}

/** A body that arrives: collected until it is read as text or as a stream. */
class ReceivedBody {
  readonly #controller: Dispatcher.DispatchController;
  #parts: Buffer[] = [];
  #size = 0;
  #ended = false;
  #error: Error | null = null;
  #stream: Readable | null = null;
  #reader: { readonly resolve: (text: string) => void; readonly reject: (reason: Error) => void } | null = null;

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
  }

  get used(): boolean {
    return this.#reader !== null || (this.#stream !== null && Readable.isDisturbed(this.#stream));
  }

  add(chunk: Buffer): void {
    if (this.#stream !== null) {
      if (!this.#stream.push(chunk)) this.#controller.pause();
      return;
    }
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#reader === null && this.#size > maxWaiting) this.#controller.pause();
  }

  end(): void {
    this.#ended = true;
    this.#stream?.push(null);
    this.#settle();
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#stream?.destroy(this.#error);
    this.#settle();
  }

  text(): Promise<string> {
    if (this.#reader !== null || this.#stream !== null)
      return Promise.reject(new TypeError('Body is unusable: it has been read.'));
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#controller.resume();
      this.#settle();
    });
  }

  #settle(): void {
    if (this.#reader === null) return;
    if (this.#error !== null) this.#reader.reject(this.#error);
    else if (this.#ended) this.#reader.resolve(textOf(this.#parts));
  }

  stream(): Readable {
    if (this.#stream !== null) return this.#stream;
    const stream = new Readable({
      highWaterMark: maxWaiting,
      read: () => {
        this.#controller.resume();
      },
      destroy: (error, done) => {
        const reason = error ?? (stream.readableEnded ? null : new errors.RequestAbortedError());
        if (reason !== null) this.#controller.abort(reason);
        done(reason);
      },
    });
    this.#stream = stream;
    for (const part of this.#parts) stream.push(part);
    this.#parts = [];
    if (this.#ended) stream.push(null);
    if (this.#error !== null) stream.destroy(this.#error);
    return stream;
  }
}

function textOf(parts: readonly Buffer[]): string {
  const [first] = parts;
  const text = (parts.length === 1 && first ? first : Buffer.concat(parts)).toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

type RawHeaders = Record<string, string | string[] | undefined>;

interface UndiciResponseInit extends Pick<Response, 'url' | 'status'> {
  readonly headers: RawHeaders;
  readonly body: ReceivedBody;
}

/** A class, because V8 keeps what the getters of an object literal refer to until the next full garbage collection. */
class UndiciResponse implements Omit<Response, 'bytes'>, NodeStreamed {
  readonly url: string;
  readonly status: number;
  readonly ok: boolean;
  readonly statusText = '';
  readonly redirected = false;
  readonly type = 'basic';
  readonly headers: Headers;
  readonly #body: ReceivedBody;
  readonly #decoder: (() => Transform) | undefined;
  #stream: Readable | undefined;
  #whole: Response | undefined;

  constructor({ url, status, headers, body }: UndiciResponseInit) {
    const encoding = headers['content-encoding'];
    this.#decoder = encoding === undefined ? undefined : decoderOf(String(encoding).toLowerCase());
    this.url = url;
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.headers = headersOf(headers, this.#decoder !== undefined);
    this.#body = body;
  }

  text(): Promise<string> {
    const isPlain = this.#decoder === undefined && this.#stream === undefined && this.#whole === undefined;
    return isPlain ? this.#body.text() : this.#response().text();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }

  get body(): Response['body'] {
    return this.#response().body;
  }

  get bodyUsed(): boolean {
    return this.#whole?.bodyUsed ?? this.#body.used;
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

  [nodeStream](): Readable | null {
    if (hasNoBody(this.status)) return null;
    // Errors reach the reader through the decoder.
    return (this.#stream ??=
      this.#decoder === undefined
        ? this.#body.stream()
        : pipeline(this.#body.stream(), this.#decoder(), () => undefined));
  }

  #response(): Response {
    if (this.#whole !== undefined) return this.#whole;
    const { status, headers } = this;
    const stream = this[nodeStream]();
    const body = stream === null ? null : (Readable.toWeb(stream) as ReadableStream<Uint8Array>);
    return (this.#whole = new Response(body, { status, headers }));
  }
}

function decoderOf(encoding: string): (() => Transform) | undefined {
  return Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
}

/** undici made the object for this response, so it is changed. */
function headersOf(raw: RawHeaders, decoded: boolean): Headers {
  if (decoded) {
    delete raw['content-encoding'];
    delete raw['content-length'];
  }
  return new FixedHeaders(raw as HeaderRecord);
}

/** Statuses of responses without a body. */
function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
