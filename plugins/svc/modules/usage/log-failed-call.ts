import { asRecord, currentRequest, RestError, type LogFields, type Logger } from '#plugin-api';
import type { BudgetedCall } from '../../ai/ports.ts';
import { findErrorCode, upstreamErrorKinds, upstreamErrorOf } from '../../kit/upstream-error.ts';

interface FailedCall extends Pick<BudgetedCall, 'kind' | 'provider' | 'model' | 'origin'> {
  /** Milliseconds. */
  readonly duration: number;
}

/** Failures that an administrator has to end: they last until a setting is changed. */
const lasting: readonly string[] = ['auth', 'internal'];

/**
 * Writes the one line of a call to a provider that failed, after its retries: with `X-Request-Id`, the key, and the cause as
 * the provider names it, without secrets. A client that closed its request is no failure of the provider, so that its line is
 * only information. Errors before the provider was called, such as a wrong address of an image, have no line.
 */
export function logFailedCall(
  log: Logger,
  error: unknown,
  { kind: use, provider, model, origin, duration }: FailedCall,
) {
  const cause = error instanceof RestError ? error.cause : error;
  const upstream = upstreamErrorOf(cause, upstreamErrorKinds);
  if (upstream === null && error instanceof RestError && error.status < 500) return;
  const kind = upstream?.kind ?? 'internal';
  const fields: LogFields = {
    event: 'provider_call_failed',
    request_id: currentRequest()?.requestId || undefined,
    caller: origin.caller?.name,
    use,
    provider,
    model,
    kind,
    status: upstream?.status ?? asRecord(asRecord(error)['data'])['provider_status'] ?? null,
    cause: upstream?.message ?? (error instanceof Error ? error.message : String(error)),
    error_code: findErrorCode(cause) ?? undefined,
    code: error instanceof RestError ? error.code : undefined,
    module: origin.module,
    route: origin.route ?? undefined,
    bot: origin.botId ?? undefined,
    reference: origin.reference ?? undefined,
    duration_ms: duration,
    // What another kind of error needs to be found in the code.
    ...(upstream === null && { error: cause ?? error }),
  };
  if (kind === 'aborted') log.info('Provider call aborted', { ...fields, event: 'provider_call_aborted' });
  else if (lasting.includes(kind)) log.error('Provider call failed', fields);
  else log.warn('Provider call failed', fields);
}
