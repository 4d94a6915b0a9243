import { asRecord, RestError, type Clock, type HostApi, type RestErrorBody, type RestResponse } from '#plugin-api';
import { createEventQueue } from './event-queue.ts';
import { nameOutage } from './outage.ts';
import { eventResponse, type ServerSentEvent, type TextEvent } from './server-sent-events.ts';

type StreamEvent = ServerSentEvent | TextEvent;

export interface StreamInit {
  readonly clock: Pick<Clock, 'after'>;
  /** The event of an error after the stream began. */
  readonly failed: (error: unknown) => StreamEvent;
  /** Sent while nothing else comes. Default: a comment. */
  readonly idle?: StreamEvent;
}

/** Milliseconds after which a stream begins, with or without a text: refusals of this service and most of vendors come sooner. */
const openAfter = 1000;

/**
 * The events that `run` pushes, as a response. Errors of the first second are responses with their status, unless an event came
 * before; later ones are events. A stream without events by then begins with a comment, and continues with one every 15 seconds,
 * so that proxies keep the connection (D50).
 *
 * @throws what `run` throws, before the stream begins
 */
export async function streamResponse(
  run: (push: (event: StreamEvent) => void) => Promise<void>,
  { clock, failed, idle }: StreamInit,
): Promise<RestResponse> {
  const queue = createEventQueue<StreamEvent>();
  let hasBegun = false;
  let isOpen = false;
  const begun = new Promise<void>((resolve) => {
    queue.onFirst(() => {
      hasBegun = true;
      resolve();
    });
  });
  const completed = run((event) => queue.push(event))
    .catch((error: unknown) => {
      if (!hasBegun && !isOpen) throw error;
      queue.push(failed(error));
    })
    .finally(() => queue.end());
  let cancel = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    cancel = clock.after(openAfter, () => {
      isOpen = true;
      resolve();
    });
  });
  await Promise.race([begun, completed, opened]).finally(cancel);
  return eventResponse(queue.events(), {
    clock,
    opening: !hasBegun,
    ...(idle && { idle }),
    headers: { 'Cache-Control': 'no-store, no-transform' },
  });
}

export interface StreamFailure {
  readonly host: Pick<HostApi, 'log' | 'database'>;
  readonly requestId: string;
  /** Of the log line. */
  readonly event: string;
}

/** What callers see of an error in a stream. An outage of the database and an unexpected error are logged, and show no details. */
export function visibleError(error: unknown, { host, requestId, event }: StreamFailure): RestErrorBody {
  const known = nameOutage(host.database, error);
  if (!(error instanceof RestError))
    host.log[known === error ? 'error' : 'warn']('Stream failed', { event, request_id: requestId, error });
  if (known instanceof RestError) {
    const { code, message, status, data } = known;
    return { code, message, data: { ...asRecord(data), status } };
  }
  return {
    code: 'rest_internal_error',
    message: `An unexpected error occurred. Request id: ${requestId}.`,
    data: { status: 500 },
  };
}
