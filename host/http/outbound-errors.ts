import { endSentence } from '#plugin-api';

export type OutboundCode =
  | 'outbound_refused'
  | 'outbound_dns'
  | 'outbound_connect'
  | 'outbound_tls'
  | 'outbound_timeout'
  | 'outbound_too_large'
  | 'outbound_redirects'
  | 'outbound_unreadable';

const notFetched = 'The address could not be fetched.';

/** For everyone: who sends an address must not learn which names and ports of a network exist. */
const messages: Readonly<Record<OutboundCode, string>> = {
  outbound_refused: notFetched,
  outbound_dns: notFetched,
  outbound_connect: notFetched,
  outbound_tls: notFetched,
  outbound_timeout: notFetched,
  outbound_unreadable: notFetched,
  outbound_too_large: 'The response is too large.',
  outbound_redirects: 'The address redirects to one that is not followed.',
};

interface OutboundErrorOptions extends ErrorOptions {
  readonly status?: number;
  /** Instead of the message of the code, where the address itself says as much. */
  readonly message?: string;
}

/** Why an outbound request failed. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundCode;

  /** For administrators and the log: with host and cause, without path or query. */
  readonly reason: string;

  /** HTTP status of the redirect that was not followed, or null. */
  readonly status: number | null;

  constructor(code: OutboundCode, reason: string, options: OutboundErrorOptions = {}) {
    super(options.message ?? messages[code], options);
    this.code = code;
    this.reason = reason;
    this.status = options.status ?? null;
  }
}

const dnsCodes = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EBADNAME|ETIMEOUT)/;
const tlsCodes =
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/;
const timeoutCodes = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;

/** Converts errors of resolver, socket, TLS and HTTP client to an OutboundError. */
export function asOutboundError(error: unknown, host: string): OutboundError {
  if (error instanceof OutboundError) return error;
  const { code: given, message = String(error) } = (firstError(error) ?? {}) as { code?: unknown; message?: string };
  const code = typeof given === 'string' ? given : '';
  const options = { cause: error };
  if (dnsCodes.test(code))
    return new OutboundError('outbound_dns', `The name ${host} cannot be resolved (${code}).`, options);
  if (tlsCodes.test(code))
    return new OutboundError('outbound_tls', `No secure connection to ${host}: ${message}`, options);
  if (timeoutCodes.test(code))
    return new OutboundError('outbound_timeout', `${host} did not respond in time.`, options);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new OutboundError('outbound_unreadable', `${host} sent headers that are too long.`, options);
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || isParserError(error))
    return new OutboundError(
      'outbound_unreadable',
      `${host} sent a response that is not valid HTTP: ${endSentence(message)}`,
      options,
    );
  return new OutboundError('outbound_connect', `The connection to ${host} failed (${code || message}).`, options);
}

/** A connection tried at several addresses fails with all their errors; the first one is enough. */
function firstError(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}

function isParserError(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError';
}
