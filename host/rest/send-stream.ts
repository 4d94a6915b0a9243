import type { ServerResponse } from 'node:http';
import type { ContentStream } from './content.ts';

/** How a stream came to its end. */
export type StreamEnd =
  { readonly kind: 'complete' } | { readonly kind: 'hung_up' } | { readonly kind: 'failed'; readonly error: unknown };

/** Milliseconds a caller may take nothing while a piece waits for it; then its connection is cut. */
const stallLimit = 60_000;

/**
 * Sends pieces as they are made, each at once, and asks for the next only when the caller has taken the last. The iterator
 * is ended when the caller hangs up, takes nothing for a minute, or a piece cannot be sent; the answer is left open.
 */
export async function sendStream(response: ServerResponse, content: ContentStream): Promise<StreamEnd> {
  const { isGone, orGone } = watch(response);
  const iterator = content[Symbol.asyncIterator]();
  try {
    while (!isGone()) {
      const next = await orGone(iterator.next());
      if (next === gone || isGone()) break;
      if (next.done === true) return { kind: 'complete' };
      if (next.value.length > 0 && !response.write(next.value)) await orGone(taken(response));
    }
    endIterator(iterator);
    return { kind: 'hung_up' };
  } catch (error) {
    endIterator(iterator);
    return isGone() ? { kind: 'hung_up' } : { kind: 'failed', error };
  }
}

const gone = Symbol('gone');

/** Waits for steps only while the caller is there. One listener for all of them: a race per piece would pile up on it. */
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

/** Resolves when the caller has taken what was sent. */
function taken(response: ServerResponse): Promise<void> {
  response.setTimeout(stallLimit);
  return new Promise((resolve) => {
    response.once('drain', () => {
      response.setTimeout(0);
      resolve();
    });
  });
}

/** What the iterator does at its end is its own affair, and may come late: it may hang in a wait that only its signal ends. */
function endIterator(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.()?.catch(() => undefined);
  } catch {
    // It is ended as far as anybody here can tell.
  }
}
