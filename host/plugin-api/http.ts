import type { buildConnector } from 'undici';

export interface OutboundInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Timeout over all phases in milliseconds, 1 or more. Default 10,000. */
  readonly timeout?: number;
  /** Maximum number of redirects; each is checked like the first URL. Default 5. */
  readonly redirects?: number;
  /** Whether a redirect to another origin is an error, so that headers and body never reach a second one. Default false. */
  readonly sameOriginOnly?: boolean;
  /** Maximum response size in bytes. Default 5 MB; a larger response is an error. */
  readonly maxBytes?: number;
  /**
   * Whether to return a response with a truncated body if the body exceeds `maxBytes`, breaks off, or is incomplete at the
   * timeout. Default false: each is an error.
   */
  readonly truncate?: boolean;
  /** Allow names and addresses of private networks, but never cloud metadata addresses (D23). Default false. */
  readonly allowInternal?: boolean;
  /**
   * `host:port` that is allowed even if private, for a URL typed by an administrator. Redirects to other hosts are checked
   * (D23).
   */
  readonly allowHost?: string;
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The final URL, after redirects. */
  readonly url: string;
  text(): string;
  json(): unknown;
}

/**
 * Outbound requests to URLs entered by people. Only http and https; every resolved address and the connected peer
 * are checked against private, loopback, link-local and reserved ranges, on every redirect (D23).
 * Redirects 301, 302, 307 and 308 keep method and body; 303 is followed only for GET and HEAD; https never redirects to http.
 * A redirect to another origin drops all headers but `accept`, `accept-language`, `content-type` and `user-agent` (D35).
 * The message of an error is for everyone: it names no host, and is the same for an open port and a closed one. `outboundReason`
 * returns the cause, for administrators; in a request the log has it too. Errors have a `code`: `outbound_refused`,
 * `outbound_dns`, `outbound_connect`, `outbound_tls`, `outbound_timeout`, `outbound_too_large`, `outbound_redirects` (with the
 * `status` of the response), `outbound_unreadable`.
 */
export interface HttpApi {
  fetch(url: string, init?: OutboundInit): Promise<OutboundResponse>;
  /** Checks a URL without calling it: resolves if it is allowed, or throws `outbound_refused` or `outbound_dns`. */
  check(url: string, init?: Pick<OutboundInit, 'allowInternal' | 'allowHost'>): Promise<void>;
  /**
   * The guard as the `connect` of an undici Agent, for clients that bring their own requests (D35). It makes the checks of
   * `fetch` for each connection: the literal address, every resolved address and the connected peer. A refused connection
   * fails with the errors of `fetch`. Agents of different policies must not be shared.
   *
   * @param init the policy; default: public addresses only. `timeout` is the connect timeout in milliseconds, default 10,000.
   */
  connector(init?: Pick<OutboundInit, 'allowInternal' | 'allowHost' | 'timeout'>): buildConnector.connector;
}
