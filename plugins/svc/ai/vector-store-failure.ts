import { RestError, type ErrorDetails } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import type { VectorStore, VectorStoreError } from '../vector-stores/vector-store.ts';

export interface FailedOperation {
  readonly store: Pick<VectorStore, 'id' | 'label'>;
  /** Index or collection that was meant; '' for what is about the store as a whole. */
  readonly target: string;
  /** Milliseconds an exchange was given. */
  readonly limit: number;
}

/** The error a caller sees for a failure at a vector store (D5). */
export function vectorStoreFailure(error: VectorStoreError, { store, target, limit }: FailedOperation): RestError {
  const details: ErrorDetails = {
    values: { provider: store.label, target, reason: sentence(error.message), seconds: Math.round(limit / 100) / 10 },
    data: { provider: store.id, provider_status: error.status },
    cause: error,
  };
  switch (error.kind) {
    case 'not_found':
      return target === '' ? errors.vector_store_error(details) : errors.vector_target_not_found(details);
    case 'auth':
      return errors.provider_auth_failed(details);
    case 'rate_limited':
      return errors.provider_rate_limited({
        ...details,
        ...(error.retryAfter !== null && { headers: { 'Retry-After': String(Math.ceil(error.retryAfter)) } }),
      });
    case 'rejected':
    case 'conflict':
    case 'unsupported':
      return errors.provider_rejected(details);
    case 'timeout':
      return errors.provider_timeout(details);
    case 'aborted':
      // Nobody is there to read it; 499 is what proxies write down for a caller that hung up.
      return new RestError({
        code: 'rest_svc_request_aborted',
        status: 499,
        message: 'The request was given up by its caller.',
        cause: error,
      });
    case 'unavailable':
    case 'unreadable':
    case 'connection':
      return errors.vector_store_error(details);
  }
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
