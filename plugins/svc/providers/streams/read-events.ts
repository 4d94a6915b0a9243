import { errorFromThrown, unreadableResponse } from '../provider-errors.ts';
import type { ProviderConnection } from '../provider.ts';
import { readJson } from '../read-json.ts';
import type { JsonObject } from '../json.ts';
import { truncatedStream } from './stream-error.ts';
import { createEventParser, EndlessEvent, type StreamEvent } from './event-parser.ts';

export interface EventReader {
  /** Accepts one event; returns true for the last one. */
  take(event: StreamEvent): boolean;
  /** Accepts the body of an upstream that does not stream. */
  whole(body: JsonObject): void;
  /** Whether the response is complete without an end marker. */
  isComplete(): boolean;
}

export interface OpenStream {
  readonly response: Response;
  readonly connection: ProviderConnection;
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

/**
 * Reads server-sent events until the last one.
 *
 * @throws ProviderError `connection` for a cut stream, `unreadable` for another kind of response, and errors of the reader.
 */
export async function readEvents({ response, connection, signal }: OpenStream, reader: EventReader): Promise<void> {
  if (!isEventStream(response)) return reader.whole(await readJson(response));
  const bytes = response.body?.getReader();
  if (bytes === undefined) throw unreadableResponse('it was empty', response.status);
  const cancel = (): void => void bytes.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  let isOver = false;
  try {
    isOver = await readToEnd(bytes, reader);
    signal.throwIfAborted();
    if (!isOver && !reader.isComplete()) throw truncatedStream();
  } catch (error) {
    if (!signal.aborted && error instanceof EndlessEvent)
      throw unreadableResponse('an event that does not end', response.status);
    throw signal.aborted ? error : errorFromThrown(error, connection);
  } finally {
    signal.removeEventListener('abort', cancel);
    if (isOver) drain(bytes, connection);
    else cancel();
  }
}

type Bytes = ReadableStreamDefaultReader<Uint8Array>;

/** Returns false if the bytes end without an end marker. */
async function readToEnd(bytes: Bytes, reader: EventReader): Promise<boolean> {
  const parser = createEventParser();
  for (;;) {
    const { done, value } = await bytes.read();
    const events = done ? parser.end() : parser.push(value);
    for (const event of events) if (reader.take(event)) return true;
    if (done) return false;
  }
}

/** Lets the upstream end the response after the end marker, so that the connection can be reused; cuts it after a while. */
function drain(bytes: Bytes, { clock }: ProviderConnection): void {
  let left = 16;
  const cut = (): void => void bytes.cancel().catch(() => undefined);
  const undo = clock.after(1000, cut);
  const next = (): Promise<void> =>
    bytes.read().then(({ done }) => {
      left -= 1;
      if (done) return;
      if (left > 0) return next();
      cut();
    });
  void next()
    .catch(() => undefined)
    .finally(undo);
}

/** Treats a missing or unknown text type as an event stream. */
function isEventStream({ headers }: Response): boolean {
  const type = headers.get('content-type');
  return type === null || !/json|html|xml/i.test(type);
}
