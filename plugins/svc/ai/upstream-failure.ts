import { RestError, type ErrorDetails } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import type { Provider, ProviderError } from '../providers/provider.ts';
import type { VectorStore, VectorStoreError } from '../vector-stores/vector-store.ts';

/** The error a caller sees if a provider fails (D5). @param limit milliseconds the call was allowed. */
export function providerFailure(
  error: ProviderError,
  provider: Pick<Provider, 'id' | 'label'>,
  limit: number,
): RestError {
  const details: ErrorDetails = {
    values: {
      provider: provider.label,
      reason: error.kind === 'auth' ? sentence(error.message) : error.message,
      seconds: Math.round(limit / 100) / 10,
    },
    data: { provider: provider.id, provider_status: error.status, ...(error.rejection ?? {}) },
    // The service has retried; a client that repeats the call repeats all of its attempts.
    headers: { 'x-should-retry': 'false' },
    cause: error,
  };
  const failure = failureOf(error, details, errors.provider_error);
  const own = ownSentence(error, provider.label);
  return own === null ? failure : withMessage(failure, own);
}

/** What the status says more precisely than the error of its kind. */
function ownSentence({ kind, status, message, rejection }: ProviderError, label: string): string | null {
  // The upstream's own 408: the request timed out there, not here.
  if (kind === 'timeout' && status !== null) return `${label} timed out: ${message}`;
  // The key is right, but not enough: a region, an account or a model is not allowed.
  if (kind === 'auth' && status === 403 && rejection === null)
    return `${label} refused access: ${sentence(message)} Check in its account what the key, the region and the model may do.`;
  return null;
}

function withMessage({ code, status, data, headers, cause }: RestError, message: string): RestError {
  return new RestError({ code, status, message, data, headers, cause });
}

export interface FailedOperation {
  readonly store: Pick<VectorStore, 'id' | 'label'>;
  /** The index or collection; '' for the store as a whole. */
  readonly target: string;
  /** Milliseconds the request was allowed. */
  readonly limit: number;
}

/** The error a caller sees if a vector store fails (D5). */
export function vectorStoreFailure(error: VectorStoreError, { store, target, limit }: FailedOperation): RestError {
  const details: ErrorDetails = {
    values: { provider: store.label, target, reason: sentence(error.message), seconds: Math.round(limit / 100) / 10 },
    data: { provider: store.id, provider_status: error.status },
    cause: error,
  };
  return error.kind === 'not_found' && target !== ''
    ? errors.vector_target_not_found(details)
    : failureOf(error, details, errors.vector_store_error);
}

/** @param other the error of failures without one of their own */
function failureOf(
  error: ProviderError | VectorStoreError,
  details: ErrorDetails,
  other: (details: ErrorDetails) => RestError,
): RestError {
  // The site's account has no credits: nothing is wrong with the request.
  if (error.rejection?.reason === 'insufficient_quota' && error.status !== 429) return other(details);
  switch (error.kind) {
    case 'auth':
      return errors.provider_auth_failed(details);
    case 'rate_limited':
      return rateLimited(error, details);
    case 'rejected':
    case 'conflict':
    case 'unsupported':
      return errors.provider_rejected(details);
    case 'timeout':
      return errors.provider_timeout(details);
    case 'aborted':
      return aborted(error);
    case 'not_found':
    case 'unavailable':
    case 'unreadable':
    case 'connection':
      return other(details);
  }
}

function rateLimited({ retryAfter }: Pick<ProviderError, 'retryAfter'>, details: ErrorDetails): RestError {
  // The client may come back when the provider says.
  const wait = retryAfter !== null && { headers: { 'Retry-After': String(Math.ceil(retryAfter)) } };
  return errors.provider_rate_limited({ ...details, ...wait });
}

/** The client is gone: 499 is the status that proxies log for a closed connection. */
function aborted(cause: Error): RestError {
  return new RestError({
    code: 'rest_svc_request_aborted',
    status: 499,
    message: 'The client closed the request.',
    cause,
  });
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
