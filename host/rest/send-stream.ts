import type { ServerResponse } from 'node:http';
import type { ContentStream } from './response-content.ts';

/** How a stream ended. */
export type StreamEnd =
  { readonly kind: 'complete' } | { readonly kind: 'hung_up' } | { readonly kind: 'failed'; readonly error: unknown };

/** Milliseconds a caller may read nothing while a chunk is pending; then its connection is cut. */
const stallLimit = 60_000;

/**
 * Sends each chunk at once and requests the next only when the caller has read the last. The iterator is ended when the
 * caller hangs up, reads nothing for a minute, or a chunk cannot be sent. The response is left open.
 */
export async function sendStream(response: ServerResponse, content: ContentStream): Promise<StreamEnd> {
  const { isGone, orGone } = watch(response);
  const iterator = content[Symbol.asyncIterator]();
  try {
    while (!isGone()) {
      const next = await orGone(iterator.next());
      if (next === gone || isGone()) break;
      if (next.done === true) return { kind: 'complete' };
      if (next.value.length > 0 && !response.write(next.value)) await orGone(drained(response));
    }
    endIterator(iterator);
    return { kind: 'hung_up' };
  } catch (error) {
    endIterator(iterator);
    return isGone() ? { kind: 'hung_up' } : { kind: 'failed', error };
  }
}

const gone = Symbol('gone');

/** Stops waiting when the caller hangs up. One listener for all steps: a race per chunk would pile up listeners. */
function watch(response: ServerResponse) {
  let isGone = response.destroyed || response.closed;
  let leave = (): void => undefined;
  response.once('close', () => {
    isGone = true;
    leave();
  });
  return {
    isGone: () => isGone || response.destroyed,
    orGone: <Value>(step: Promise<Value>): Promise<Value | typeof gone> =>
      new Promise((resolve, reject) => {
        leave = () => resolve(gone);
        step.then(resolve, reject);
      }),
  };
}

/** Resolves when the caller has read everything sent. */
function drained(response: ServerResponse): Promise<void> {
  response.setTimeout(stallLimit);
  return new Promise((resolve) => {
    response.once('drain', () => {
      response.setTimeout(0);
      resolve();
    });
  });
}

/** Not awaited: the iterator may be in a wait that only its signal ends. */
function endIterator(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.()?.catch(() => undefined);
  } catch {
    // Nothing more can be done.
  }
}
