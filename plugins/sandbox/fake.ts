import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from '#plugin-api';
import type { VectorStorage } from './storage/vector-storage.ts';

/** The key every fake accepts (Ollama asks for none). */
export const sandboxKey = 'sandbox';

/** A request as the fake of one provider sees it. */
export interface FakeRequest {
  readonly method: string;
  /** Path below the provider's own root, for example `/v1/chat/completions`. */
  readonly path: string;
  /** Named groups of the route's pattern, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body, or the fields of a form with files; undefined when there was none. */
  readonly body: unknown;
  /** The seed of the fault settings: same seed and same prompt, same answer. */
  readonly seed: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Where the sandbox listens, `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** Length of the body in bytes. */
  readonly length: number;
  /** What the vector stores remember. */
  readonly storage: VectorStorage;
}

/** An answer, whole (one chunk) or streamed (several). Written in order; a cut connection loses the second half. */
export interface FakeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly (string | Uint8Array)[];
}

export interface FakeRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Matched against the whole path below the provider's root. */
  readonly path: RegExp;
  /** Throws Refusal. */
  readonly handle: (request: FakeRequest) => FakeResponse | Promise<FakeResponse>;
}

/** Answers of one provider to what can go wrong before a handler runs, in that provider's own shape. */
export interface FakeErrors {
  unknownPath(request: FakeRequest): FakeResponse;
  badJson(): FakeResponse;
  /** @param length of the body, in bytes. */
  tooLarge(length: number): FakeResponse;
  /** @param name of the model or collection. @param retryAfter seconds, also sent as `Retry-After`. */
  rateLimited(name: string, retryAfter: number): FakeResponse;
  serverError(): FakeResponse;
  /** A server error in the middle of a stream of events, made of the error's JSON. Left out: an event without a name. */
  streamedError?(body: string): string;
}

/** The fake of one upstream. */
export interface Fake {
  /** the upstream id in the service, and the first segment of the fake's addresses. */
  readonly id: string;
  readonly label: string;
  /** Largest body it reads, in bytes; 10 MB when left out. */
  readonly bodyLimit?: number;
  /** The refusal of a request without the right key; null lets it in. */
  refuse(request: FakeRequest): FakeResponse | null;
  /** The model or collection a request is about: its name may force a fault. The empty string: none. Left out: `model` or `deployment`. */
  readonly nameOf?: (request: FakeRequest) => string | Promise<string>;
  readonly errors: FakeErrors;
  readonly routes: readonly FakeRoute[];
}

/** The fake of one vector store. */
export interface FakeStore extends Fake {
  /** Settings of the store that lead here. `origin` is `http://127.0.0.1:<port>`. */
  settings(origin: string): Readonly<Record<string, unknown>>;
}

/** The fake of one provider. */
export interface FakeProvider extends Fake {
  /** Models for text it lists; the first is the default. Any other name is answered too. */
  readonly models: readonly string[];
  /** Models for embeddings and for images, where it has them; the first of each is the default. */
  readonly embeddingModels?: readonly string[];
  readonly imageModels?: readonly string[];
  /** Provider settings that lead here. `root` is `http://127.0.0.1:<port>/<id>`; `saved` are the stored ones. */
  settings(root: string, saved: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** Thrown by a handler to answer something else than success. */
export class Refusal extends Error {
  readonly reply: FakeResponse;

  constructor(reply: FakeResponse) {
    super(`refused with ${String(reply.status)}`);
    this.name = 'Refusal';
    this.reply = reply;
  }
}

export function jsonResponse(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): FakeResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    chunks: [JSON.stringify(body)],
  };
}

export function streamResponse(
  chunks: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): FakeResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...headers },
    chunks,
  };
}

/** The token of an `Authorization: Bearer` header, or the empty string. */
export function bearer(headers: IncomingHttpHeaders): string {
  return /^bearer\s(.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim() ?? '';
}

/** The text of a message's content: a string, or the text parts of an array, followed by what images it holds. */
export function readContentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts = (content as unknown[]).filter(isRecord);
  const texts = parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : ''));
  return [...texts, ...parts.map(imageText)].join('');
}

/** Names an image that a message holds, in any of the formats, so that answers show that it arrived. */
function imageText(part: Readonly<Record<string, unknown>>): string {
  const source = [part['source'], part['inlineData'], part['inline_data'], part['image_url']].find(isRecord) ?? {};
  const [, type = '', data = ''] = /^data:([^;]+);base64,(.*)$/s.exec(String(source['url'] ?? '')) ?? [
    '',
    String(source['media_type'] ?? source['mimeType'] ?? source['mime_type'] ?? ''),
    String(source['data'] ?? ''),
  ];
  return type === '' ? '' : ` [${type}, ${String(Buffer.from(data, 'base64').length)} bytes]`;
}

/** Stop sequences given as one string or several. */
export function readStops(stop: unknown): string[] {
  return (Array.isArray(stop) ? stop : [stop]).filter(
    (entry): entry is string => typeof entry === 'string' && entry !== '',
  );
}
