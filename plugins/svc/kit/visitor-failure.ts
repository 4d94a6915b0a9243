import { asRecord, RestError } from '#plugin-api';

/**
 * What a visitor can make of an error whose reason is for administrators. `declined`: other words may help. `too_long`: a
 * shorter text may. `busy`: a retry in a minute may. `unavailable`: only an administrator can help, as with a refused key or a
 * used-up budget, which is no limit of the visitor. `failed`: a retry may help.
 */
export type VisitorFailure = 'declined' | 'too_long' | 'busy' | 'unavailable' | 'failed';

const reasons: Readonly<Record<string, VisitorFailure>> = {
  refusal: 'declined',
  content_filter: 'declined',
  context_length: 'too_long',
};

/** Errors with a status of servers that last until an administrator changes something. */
const lasting: readonly string[] = ['rest_svc_provider_auth_failed', 'rest_svc_secret_unreadable'];

/** What an error of a call to a provider means for a visitor. */
export function visitorFailure(error: unknown): VisitorFailure {
  if (!(error instanceof RestError)) return 'failed';
  const { reason, is_reserved: isReserved } = asRecord(error.data);
  if (error.code === 'rest_svc_provider_rejected' && typeof reason === 'string' && Object.hasOwn(reasons, reason))
    return reasons[reason] ?? 'unavailable';
  if (error.code === 'rest_svc_budget_exhausted') return isReserved === true ? 'busy' : 'unavailable';
  if (error.status < 429 || lasting.includes(error.code) || reason === 'insufficient_quota') return 'unavailable';
  return error.status === 429 ? 'busy' : 'failed';
}
