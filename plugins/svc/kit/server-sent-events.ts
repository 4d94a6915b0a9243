import { RestResponse, type Clock } from '#plugin-api';

/** One event of a response: its name, and its data, which are sent as JSON. */
export interface ServerSentEvent {
  /** Omitted: an event without a name. */
  readonly event?: string;
  readonly data: unknown;
}

/** An event with text that is not JSON, such as `[DONE]`. */
export interface TextEvent {
  readonly text: string;
}

type StreamEvent = ServerSentEvent | TextEvent;

export interface EventStreamInit {
  readonly clock: Pick<Clock, 'after'>;
  /** Milliseconds without an event after which a comment is sent, so that proxies keep the connection. Default 15,000. */
  readonly keepAlive?: number;
  /** Sent instead of that comment. */
  readonly idle?: StreamEvent;
  /** Whether a comment is sent at once, so that the head of the response reaches the caller before the first event. */
  readonly opening?: boolean;
}

/**
 * The events of a source as the content of a response (`RestResponse.content`): `event:` and `data:` lines, and comments to keep
 * the connection alive. If the source throws, the connection is cut; a source sends errors for the caller as events. When the
 * caller disconnects, the source is ended with `return()` at once, even while it produces an event.
 */
export function eventStream(
  events: AsyncIterable<StreamEvent>,
  { clock, keepAlive = 15_000, opening = false, idle }: EventStreamInit,
): AsyncIterable<string> {
  const silence = idle === undefined ? comment : writeEvent(idle);
  const init = { clock, keepAlive, opening, silence };
  return { [Symbol.asyncIterator]: () => createPieces(events[Symbol.asyncIterator](), init) };
}

/** A response with events. Inside the process and in batches, `body` replaces them. */
export function eventResponse(
  events: AsyncIterable<StreamEvent>,
  init: EventStreamInit & { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
): RestResponse {
  const headers = { ...init.headers, 'Content-Type': 'text/event-stream; charset=UTF-8' };
  return new RestResponse({ body: init.body ?? null, headers, content: eventStream(events, init) });
}

/** Formats one event. JSON escapes line breaks, so the data is one line. */
export function writeEvent(event: StreamEvent): string {
  if ('text' in event) return `data: ${event.text}\n\n`;
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  return `${name}data: ${JSON.stringify(event.data) ?? 'null'}\n\n`;
}

const comment = ': \n\n';

function createPieces(
  source: AsyncIterator<StreamEvent>,
  { clock, keepAlive, opening, silence }: Required<Omit<EventStreamInit, 'idle'>> & { readonly silence: string },
): AsyncIterator<string> {
  let isOpening = opening;
  /** The pending event. Comments are sent while it is pending. */
  let pending: Promise<IteratorResult<StreamEvent>> | undefined;
  let stopWaiting: () => void = () => undefined;
  let isOver = false;
  const end = (): IteratorResult<string> => ({ done: true, value: undefined });

  return {
    next: () =>
      new Promise<IteratorResult<string>>((resolve, reject) => {
        if (isOver) return resolve(end());
        if (isOpening) {
          isOpening = false;
          return resolve({ done: false, value: comment });
        }
        const cancel = clock.after(keepAlive, () => resolve({ done: false, value: silence }));
        stopWaiting = () => {
          cancel();
          resolve(end());
        };
        (pending ??= source.next())
          .then((step) => {
            cancel();
            pending = undefined;
            isOver ||= step.done === true;
            resolve(step.done === true ? end() : { done: false, value: writeEvent(step.value) });
          })
          .catch((error: unknown) => {
            cancel();
            isOver = true;
            reject(error as Error);
          });
      }),
    async return() {
      isOver = true;
      stopWaiting();
      // A generator ends only after the pending event; its own signal has to abort that.
      source.return?.()?.catch(() => undefined);
      return end();
    },
  };
}
