import { HeadersTooLongError, UnreadableAnswerError } from './answer-parser.ts';

export type OutboundCode =
  | 'outbound_refused'
  | 'outbound_dns'
  | 'outbound_connect'
  | 'outbound_tls'
  | 'outbound_timeout'
  | 'outbound_too_large'
  | 'outbound_redirects'
  | 'outbound_unreadable';

/** Why an outbound request has no answer. The message may be shown to an administrator; it names host and reason, no path and no query. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundCode;

  /** HTTP status of the answer that could not be followed, or null. */
  readonly status: number | null;

  constructor(code: OutboundCode, message: string, options: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.code = code;
    this.status = options.status ?? null;
  }
}

const dnsCodes = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EBADNAME|ETIMEOUT)/;
const tlsCodes =
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/;
const timeoutCodes = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;

/** One of our codes for whatever resolver, socket, TLS or HTTP client threw. */
export function asOutboundError(error: unknown, host: string): OutboundError {
  if (error instanceof OutboundError) return error;
  const { code: given, message = String(error) } = (firstOf(error) ?? {}) as { code?: unknown; message?: string };
  const code = typeof given === 'string' ? given : '';
  const options = { cause: error };
  if (dnsCodes.test(code))
    return new OutboundError('outbound_dns', `The name ${host} cannot be resolved (${code}).`, options);
  if (tlsCodes.test(code))
    return new OutboundError('outbound_tls', `No secure connection to ${host}: ${message}`, options);
  if (timeoutCodes.test(code)) return new OutboundError('outbound_timeout', `${host} did not answer in time.`, options);
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || error instanceof HeadersTooLongError)
    return new OutboundError('outbound_unreadable', `${host} sent headers that are too long to be read.`, options);
  if (isParserError(error))
    return new OutboundError(
      'outbound_unreadable',
      `${host} answered something that is not HTTP: ${message}.`,
      options,
    );
  return new OutboundError('outbound_connect', `The connection to ${host} failed (${code || message}).`, options);
}

/** A connection tried over several addresses fails with all their errors; the first tells enough. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}

function isParserError(error: unknown): boolean {
  return error instanceof UnreadableAnswerError || (error instanceof Error && error.name === 'HTTPParserError');
}
