import { RestError, type ErrorDetails } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import type { Provider, ProviderError } from '../providers/provider.ts';

/** The error a caller sees for a failure at a provider (D5). @param limit milliseconds the call was given. */
export function providerFailure(
  error: ProviderError,
  provider: Pick<Provider, 'id' | 'label'>,
  limit: number,
): RestError {
  const details: ErrorDetails = {
    values: { provider: provider.label, reason: error.message, seconds: Math.round(limit / 100) / 10 },
    data: { provider: provider.id, provider_status: error.status },
    cause: error,
  };
  switch (error.kind) {
    case 'auth':
      return errors.provider_auth_failed({
        ...details,
        values: { ...details.values, reason: sentence(error.message) },
      });
    case 'rate_limited':
      return errors.provider_rate_limited({
        ...details,
        ...(error.retryAfter !== null && { headers: { 'Retry-After': String(Math.ceil(error.retryAfter)) } }),
      });
    case 'rejected':
      return errors.provider_rejected(details);
    case 'timeout':
      return error.status === null ? errors.provider_timeout(details) : farEndTimedOut(error, details);
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
      return errors.provider_error(details);
  }
}

/** The far end's own 408: no answer in time, but not for want of ours. */
function farEndTimedOut(error: ProviderError, details: ErrorDetails): RestError {
  const { code, status } = errors.provider_timeout();
  return new RestError({
    code,
    status,
    message: `${String(details.values?.['provider'])} gave up on the request: ${error.message}`,
    data: details.data,
    cause: error,
  });
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
