import type { Clock } from '#plugin-api';

export interface TimeLimit {
  readonly clock: Pick<Clock, 'after'>;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** Why an exchange ended before its end. */
export interface EndedExchange {
  readonly kind: 'timeout' | 'aborted';
  readonly message: string;
  readonly cause?: unknown;
}

/**
 * Runs one exchange with an upstream under a time limit and a signal, until its body is read. The limits of vendors' clients
 * cover only the time until the headers.
 *
 * @throws what `ended` returns after the limit or the signal, else what `failed` makes of a thrown error.
 */
export async function runWithinLimit<Result>(
  { clock, timeout, signal }: TimeLimit,
  exchange: (signal: AbortSignal) => Promise<Result>,
  { ended, failed }: { readonly ended: (init: EndedExchange) => Error; readonly failed: (thrown: unknown) => unknown },
): Promise<Result> {
  const controller = new AbortController();
  const end: { kind: EndedExchange['kind'] | null } = { kind: null };
  const finish = (kind: EndedExchange['kind']) => (): void => {
    end.kind ??= kind;
    controller.abort();
  };
  const onAbort = finish('aborted');
  if (signal?.aborted) throw ended(endedExchange('aborted'));
  signal?.addEventListener('abort', onAbort, { once: true });
  const cancel = clock.after(timeout, finish('timeout'));
  try {
    return await exchange(controller.signal);
  } catch (thrown) {
    throw end.kind === null ? failed(thrown) : ended(endedExchange(end.kind, thrown));
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}

function endedExchange(kind: EndedExchange['kind'], cause?: unknown): EndedExchange {
  const message = kind === 'timeout' ? 'it did not respond in time.' : 'the request was canceled.';
  return { kind, message, cause };
}
