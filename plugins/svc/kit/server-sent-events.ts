import { RestResponse, type Clock } from '#plugin-api';

/** One event of an answer: its name and its data, sent as JSON. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: unknown;
}

export interface EventStreamInit {
  readonly clock: Pick<Clock, 'after'>;
  /** Milliseconds of silence after which a comment goes out, so that nobody on the way takes the connection for dead. Default 15,000. */
  readonly keepAlive?: number;
}

/**
 * The events of a source as content of an answer (`RestResponse.content`): `event:` and `data:` lines, and a comment in times
 * of silence. A source that fails cuts the connection; one whose failures the caller should see sends them as events.
 * When the content is ended (the caller hung up), the source is ended with `return()` at once, even while it is making an event.
 */
export function eventStream(
  events: AsyncIterable<ServerSentEvent>,
  { clock, keepAlive = 15_000 }: EventStreamInit,
): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => createPieces(events[Symbol.asyncIterator](), { clock, keepAlive }) };
}

/** An answer of events. Nothing but its body stands for them inside the process and in batches. */
export function eventResponse(
  events: AsyncIterable<ServerSentEvent>,
  init: EventStreamInit & { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
): RestResponse {
  const headers = { ...init.headers, 'Content-Type': 'text/event-stream; charset=UTF-8' };
  return new RestResponse({ body: init.body ?? null, headers, content: eventStream(events, init) });
}

/** What one event is on the wire. Line breaks within JSON are escaped, so that the data is one line. */
export function writeEvent({ event, data }: ServerSentEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data) ?? 'null'}\n\n`;
}

const comment = ': \n\n';

function createPieces(
  source: AsyncIterator<ServerSentEvent>,
  { clock, keepAlive }: Required<EventStreamInit>,
): AsyncIterator<string> {
  /** The event under way; it outlives comments that are sent while it is made. */
  let coming: Promise<IteratorResult<ServerSentEvent>> | undefined;
  let stopWaiting: () => void = () => undefined;
  let isOver = false;
  const end = (): IteratorResult<string> => ({ done: true, value: undefined });

  return {
    next: () =>
      new Promise<IteratorResult<string>>((resolve, reject) => {
        if (isOver) return resolve(end());
        const cancel = clock.after(keepAlive, () => resolve({ done: false, value: comment }));
        stopWaiting = () => {
          cancel();
          resolve(end());
        };
        (coming ??= source.next())
          .then((step) => {
            cancel();
            coming = undefined;
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
      // A generator ends only once the event under way is made: its own signal has to cut that short.
      source.return?.()?.catch(() => undefined);
      return end();
    },
  };
}
