import { isUnsent } from '../kit/upstream-error.ts';
import { asProviderError, type FailedUsage, type ProviderError } from '../providers/provider.ts';

export interface BilledAttempt extends FailedUsage {
  readonly written: string;
  /** Whether the request was sent and its response not read to the end: the provider may have finished it. */
  readonly isUnread: boolean;
}

/**
 * What a failed attempt may cost (D51); null: nothing. `usage` is null if it has to be estimated.
 *
 * @param isSent whether the attempt was made
 * @param text what the caller got of the text
 */
export function billedUsage(
  thrown: unknown,
  { isSent, text = '' }: { readonly isSent: boolean; readonly text?: string },
): BilledAttempt | null {
  const error = asProviderError(thrown);
  const { written = text, ...reported } = error?.reported ?? { usage: null };
  const isBilled = reported.usage !== null || (isSent && (written !== '' || (error !== null && isBillable(error))));
  return isBilled ? { ...reported, written, isUnread: isSent && error !== null && isUnread(error) } : null;
}

const overloaded: ReadonlySet<number> = new Set([503, 529]);

/**
 * Whether a provider may bill a failed attempt: not a request that it refused, or that it never got. A failure within a response
 * that had begun well is a refusal only if it says that the provider was overloaded.
 */
function isBillable(error: ProviderError): boolean {
  const { status, isInside } = error;
  if (status === null) return isUnread(error);
  return status < 300 || (isInside && status >= 500 && !overloaded.has(status));
}

/** Time limit, client gone or connection cut, unless the request certainly did not reach the provider. */
function isUnread(error: ProviderError): boolean {
  const { kind, status } = error;
  // 408 is the provider's own; 200 that its response had begun.
  if (status !== null && status >= 300) return false;
  return kind === 'timeout' || kind === 'aborted' || (kind === 'connection' && !isUnsent(error));
}
