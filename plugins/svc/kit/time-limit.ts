import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '#plugin-api';

/** Milliseconds, retries included. Embeddings and images: of a whole call. */
export interface CallTimeouts {
  /** Until the first bytes of a response with a text. */
  readonly text: number;
  /** Between pieces of a text (D50). Default: as `text`. */
  readonly textIdle?: number;
  /** Of a whole text (D50). Default: as `text`. */
  readonly textTotal?: number;
  readonly embeddings: number;
  readonly images: number;
}

export interface TimeLimit {
  readonly clock: Pick<Clock, 'after' | 'now'>;
  /** Milliseconds of the whole exchange. */
  readonly timeout: number;
  /** Milliseconds until the first bytes of the response (D50). Default: `timeout`. */
  readonly firstByte?: number | undefined;
  /** Milliseconds without further bytes of the response (D50). Default: `timeout`. */
  readonly idle?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why an exchange ended before its end. */
export interface EndedExchange {
  readonly kind: 'timeout' | 'aborted';
  readonly message: string;
  /** 200 if the response had begun, else null. */
  readonly status: number | null;
  readonly cause?: unknown;
}

/** Vendors' clients send a request of an exchange with a signal of their own, so async context links it. */
const listeners = new AsyncLocalStorage<() => void>();

/** What the sender of a request calls for the head of the response and for each piece of its body, if it is to. */
export function bytesListener(): (() => void) | undefined {
  return listeners.getStore();
}

/**
 * Runs one exchange with an upstream under its limits of time and a signal, until its body is read. The limits of vendors'
 * clients cover only the time until the headers.
 *
 * @throws what `ended` returns after the limit or the signal, else what `failed` makes of a thrown error.
 */
export async function runWithinLimit<Result>(
  limit: TimeLimit,
  exchange: (signal: AbortSignal) => Promise<Result>,
  { ended, failed }: { readonly ended: (init: EndedExchange) => Error; readonly failed: (thrown: unknown) => unknown },
): Promise<Result> {
  const { clock, timeout, signal } = limit;
  const controller = new AbortController();
  let end: Omit<EndedExchange, 'cause'> | null = null;
  const finish = (reason: Omit<EndedExchange, 'cause'>): void => {
    end ??= reason;
    controller.abort();
  };
  const onAbort = (): void => finish(canceled);
  if (signal?.aborted) throw ended(canceled);
  signal?.addEventListener('abort', onAbort, { once: true });
  const silence = watchSilence(limit, finish);
  const cancel = clock.after(timeout, () => finish(silence.hasBegun() ? tooLong(timeout) : noResponse));
  try {
    return await silence.run(() => exchange(controller.signal));
  } catch (thrown) {
    throw end === null ? failed(thrown) : ended({ ...(end as EndedExchange), cause: thrown });
  } finally {
    cancel();
    silence.stop();
    signal?.removeEventListener('abort', onAbort);
  }
}

const canceled = { kind: 'aborted', status: null, message: 'the request was canceled.' } as const;
const noResponse = { kind: 'timeout', status: null, message: 'it did not respond in time.' } as const;

const tooLong = (limit: number) =>
  ({ kind: 'timeout', status: 200, message: `its response took longer than ${seconds(limit)} seconds.` }) as const;

const stalled = (limit: number) =>
  ({ kind: 'timeout', status: 200, message: `its response stopped for ${seconds(limit)} seconds.` }) as const;

function seconds(milliseconds: number): string {
  return String(Math.round(milliseconds / 100) / 10);
}

/** Ends an exchange whose response does not begin, or stops. One timer at a time, which is not set again for each piece. */
function watchSilence(
  { clock, timeout, firstByte = timeout, idle = timeout }: TimeLimit,
  finish: (reason: Omit<EndedExchange, 'cause'>) => void,
): { run<Result>(exchange: () => Result): Result; hasBegun(): boolean; stop(): void } {
  let lastBytes = clock.now();
  let hasBegun = false;
  let stop = (): void => undefined;
  const check = (): void => {
    const left = lastBytes + (hasBegun ? idle : firstByte) - clock.now();
    if (left > 0) stop = clock.after(left, check);
    else finish(hasBegun ? stalled(idle) : noResponse);
  };
  const onBytes = (): void => {
    lastBytes = clock.now();
    // The limit for silence may be shorter than what is left of the first one.
    if (!hasBegun) {
      hasBegun = true;
      stop();
      stop = clock.after(idle, check);
    }
  };
  const isWatched = firstByte < timeout || idle < timeout;
  if (isWatched) stop = clock.after(firstByte, check);
  return {
    run: (exchange) => (isWatched ? listeners.run(onBytes, exchange) : exchange()),
    hasBegun: () => hasBegun,
    stop: () => stop(),
  };
}
