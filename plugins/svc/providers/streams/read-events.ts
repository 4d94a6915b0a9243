import { errorFromThrown, unreadableResponse } from '../provider-errors.ts';
import type { ProviderConnection } from '../provider.ts';
import { readJson } from '../read-json.ts';
import type { JsonObject } from '../json.ts';
import { truncatedStream } from './stream-error.ts';
import { createEventParser, EndlessEvent, type StreamEvent } from './event-parser.ts';

export interface EventReader {
  /** Takes one event. Answers true when it was the last one. */
  take(event: StreamEvent): boolean;
  /** Takes the whole answer of a far end that does not stream although it was asked to. */
  whole(body: JsonObject): void;
  /** Whether the answer is complete though its end mark has not come. */
  isComplete(): boolean;
}

export interface OpenStream {
  readonly response: Response;
  readonly connection: ProviderConnection;
  /** Ends the far end's request. */
  readonly signal: AbortSignal;
}

/**
 * Reads an answer of server-sent events to its end.
 *
 * @throws ProviderError `connection` when it breaks off, `unreadable` when it is another kind of answer, and what the reader throws.
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
      throw unreadableResponse('an event of it does not end', response.status);
    throw signal.aborted ? error : errorFromThrown(error, connection);
  } finally {
    signal.removeEventListener('abort', cancel);
    if (isOver) drain(bytes, connection);
    else cancel();
  }
}

type Bytes = ReadableStreamDefaultReader<Uint8Array>;

/** Answers whether the end mark came; else the bytes have ended. */
async function readToEnd(bytes: Bytes, reader: EventReader): Promise<boolean> {
  const parser = createEventParser();
  for (;;) {
    const { done, value } = await bytes.read();
    const events = done ? parser.end() : parser.push(value);
    for (const event of events) if (reader.take(event)) return true;
    if (done) return false;
  }
}

/** Lets the far end close its answer behind the end mark, so that the connection can be used again; one that does not is cut. */
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

/** Far ends that name no type, or a text of another name, are believed to have done as they were asked. */
function isEventStream({ headers }: Response): boolean {
  const type = headers.get('content-type');
  return type === null || !/json|html|xml/i.test(type);
}
