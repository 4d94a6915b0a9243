import { isRecord } from '#plugin-api';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { errorFromThrown, unreadableResponse, errorFromResponse } from '../provider-errors.ts';
import {
  type FailedUsage,
  type ProviderConnection,
  ProviderError,
  type RequestedText,
  type TextResult,
} from '../provider.ts';
import { jsonObject } from '../time-limit.ts';
import { type JsonObject, objectAt, textAt } from '../json.ts';

/** Names of errors without a status, and the status that applies. */
const statuses: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/billing|arrearage/i, 402],
  [/rate.?limit|too_many|quota|RESOURCE_EXHAUSTED/i, 429],
  [/overloaded/i, 529],
  [/authentication|invalid_api_key|UNAUTHENTICATED/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/request_too_large/i, 413],
  [/timeout|DEADLINE_EXCEEDED/i, 504],
  [/unavailable/i, 503],
  [/invalid|content_filter|context_length|FAILED_PRECONDITION/i, 400],
];

/** The ProviderError of an error in a response or stream that began well, mapped by its status, or as 502 if that is unknown. */
export function errorInside(body: unknown, connection: Pick<ProviderConnection, 'settings' | 'clock'>): ProviderError {
  const error = objectAt(body, 'error');
  const code = Number(error['code'] ?? error['status']);
  // A code says more than a type such as `server_error`.
  const names = [textAt(error, 'code'), textAt(error, 'type'), textAt(error, 'status')];
  const named = names
    .map((name) => statuses.find(([pattern]) => pattern.test(name ?? ''))?.[1])
    .find((found) => found !== undefined);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : (named ?? 502);
  const failure = errorFromResponse({ status, headers: new Headers(), body }, connection);
  failure.isInside = true;
  return failure;
}

/** The stream ended without its end marker, so the text is incomplete. */
function truncatedStream(): ProviderError {
  return new ProviderError({ kind: 'connection', message: 'its response ended early.' });
}

/** The JSON object of an event. */
export function parseEvent(data: string): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(data);
  } catch {
    throw unreadableResponse('an event that is not JSON');
  }
  if (!isRecord(body)) throw unreadableResponse('an event that is not an object');
  return body;
}

/** Reads one streamed text. */
export interface TextStream extends EventReader {
  /** Call it at the end of the stream. Throws as the reader of a whole response does. */
  result(): Omit<TextResult, 'ignored'>;
  /** What was received so far, for a stream that fails. */
  report(): FailedUsage;
}

/** Opens the reader of one response; `onText` gets each piece of text. */
export type OpenTextStream = (
  request: RequestedText,
  connection: ProviderConnection,
  onText: (piece: string) => void,
) => TextStream;

export interface EventReader {
  /** Accepts one event; returns true for the last one. */
  take(event: EventSourceMessage): boolean;
  /** Accepts the body of an upstream that does not stream. */
  whole(body: JsonObject): void;
  /** Whether the response is complete without an end marker. */
  isComplete(): boolean;
}

export interface OpenStream {
  readonly response: Response;
  readonly connection: ProviderConnection;
}

type BytesReader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Reads server-sent events until the last one.
 *
 * @throws ProviderError `connection` for a cut stream, `unreadable` for another kind of response, and errors of the reader.
 */
export async function readEvents({ response, connection }: OpenStream, reader: EventReader): Promise<void> {
  if (!isEventStream(response)) return readText(response, reader);
  if (response.body === null) throw unreadableResponse('it was empty', response.status);
  const bytes = response.body.getReader();
  let isOver = false;
  try {
    isOver = await readToEnd(bytes, reader, response.status);
    if (!isOver && !reader.isComplete()) throw truncatedStream();
  } catch (error) {
    throw errorFromThrown(error, connection);
  } finally {
    if (isOver) void drain(bytes, connection);
    else cancel(bytes);
  }
}

/**
 * A body that is not called a stream: JSON, as from an upstream that does not stream, or events all the same, each of them with
 * its field names or alone on a line.
 */
async function readText(response: Response, reader: EventReader): Promise<void> {
  const text = await response.text();
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
  const isOver = isEvents(text)
    ? eventsIn(text).some((event) => reader.take(event))
    : lines.length > 1 && lines.every(isJsonObject)
      ? lines.some((data) => reader.take({ data, event: undefined, id: undefined }))
      : null;
  if (isOver === null) return reader.whole(jsonObject(text, response));
  if (!isOver && !reader.isComplete()) throw truncatedStream();
}

function isEvents(text: string): boolean {
  return /^\s*(?:(?:data|event|id|retry)?:)/.test(text.slice(0, 1000));
}

function eventsIn(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => void events.push(event) }).feed(`${text.trimStart()}\n\n`);
  return events;
}

function isJsonObject(line: string): boolean {
  try {
    return isRecord(JSON.parse(line));
  } catch {
    return false;
  }
}

/** Maximum characters of an event. */
const maxLength = 16 * 1_048_576;

/** Returns false if the bytes end without an end marker. */
async function readToEnd(bytes: BytesReader, reader: EventReader, status: number): Promise<boolean> {
  let isOver = false;
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent(event) {
      isOver ||= reader.take(event);
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') throw unreadableResponse('an event that does not end', status);
    },
  });
  while (!isOver) {
    const { done, value } = await bytes.read();
    // Some upstreams omit the line breaks after the last event.
    parser.feed(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }));
    if (done) break;
  }
  return isOver;
}

/** Lets the upstream end the response after the end marker, so that the connection can be reused; cuts it after a while. */
async function drain(bytes: BytesReader, { clock }: ProviderConnection): Promise<void> {
  const undo = clock.after(1000, () => cancel(bytes));
  try {
    for (let left = 16; left > 0; left -= 1) if ((await bytes.read()).done) return;
    cancel(bytes);
  } catch {
    // It was cut.
  } finally {
    undo();
  }
}

function cancel(bytes: BytesReader): void {
  bytes.cancel().catch(() => undefined);
}

/** Treats a missing or unknown text type as an event stream. */
export function isEventStream({ headers }: Response): boolean {
  const type = headers.get('content-type');
  return type === null || !/json|html|xml/i.test(type);
}
