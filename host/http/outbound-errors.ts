export type OutboundCode =
  | 'outbound_refused' | 'outbound_dns' | 'outbound_connect' | 'outbound_tls'
  | 'outbound_timeout' | 'outbound_too_large' | 'outbound_redirects';

/** Why an outbound request has no answer. The message may be shown to an administrator; it names host and reason, no path and no query. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundCode;

  constructor(code: OutboundCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const dnsCodes = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EBADNAME|ETIMEOUT)/;
const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/;
const timeoutCodes = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;

/** One of our codes for whatever resolver, socket, TLS or HTTP client threw. */
export function asOutboundError(error: unknown, host: string): OutboundError {
  if (error instanceof OutboundError) return error;
  const { code = '', message = String(error) } = (firstOf(error) ?? {}) as { code?: string; message?: string };
  const options = { cause: error };
  if (dnsCodes.test(code)) return new OutboundError('outbound_dns', `The name ${host} cannot be resolved (${code}).`, options);
  if (tlsCodes.test(code)) return new OutboundError('outbound_tls', `No secure connection to ${host}: ${message}`, options);
  if (timeoutCodes.test(code)) return new OutboundError('outbound_timeout', `${host} did not answer in time.`, options);
  return new OutboundError('outbound_connect', `The connection to ${host} failed (${code || message}).`, options);
}

/** A connection tried over several addresses fails with all their errors; the first tells enough. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}
