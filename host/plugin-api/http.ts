export interface OutboundInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Milliseconds over all phases, 1 or more. Default 10,000. */
  readonly timeout?: number;
  /** Redirects followed, each checked like the first address. Default 5. */
  readonly redirects?: number;
  /** Largest answer kept, in bytes. Default 5 MB; a longer one is an error. */
  readonly maxBytes?: number;
  /**
   * The status line decides: a body beyond `maxBytes`, one that breaks off and one that has not ended when time is up are
   * cut there, and the answer is given with what was read. Default false: each is an error.
   */
  readonly truncate?: boolean;
  /** Let names and addresses of private networks through. Cloud metadata addresses never (D23). Default false. */
  readonly allowInternal?: boolean;
  /** `host:port` reached even when private, for an address an administrator typed out; redirects elsewhere are checked as always (D23). */
  readonly allowHost?: string;
  readonly signal?: AbortSignal;
  /** One of very many: a POST then goes a way on which it costs a third of what it costs otherwise. Nothing else differs. Default false. */
  readonly bulk?: boolean;
}

export interface OutboundResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The address that answered, after redirects. */
  readonly url: string;
  text(): string;
  json(): unknown;
}

/**
 * Outbound requests to addresses that people typed. Only http and https; every resolved address and the connected peer
 * are checked against private, loopback, link-local and reserved ranges, on every redirect (D23).
 * Redirects 301, 302, 307 and 308 keep method and body; 303 is followed for GET and HEAD alone; https never leads to http.
 * `authorization` and `cookie` stay behind when a redirect leaves the origin.
 * Errors carry `code`: `outbound_refused`, `outbound_dns`, `outbound_connect`, `outbound_tls`, `outbound_timeout`, `outbound_too_large`, `outbound_redirects`
 * (with `status`, the answer's), `outbound_unreadable`.
 */
export interface HttpApi {
  fetch(url: string, init?: OutboundInit): Promise<OutboundResponse>;
  /** Whether an address would be called, without calling it: resolves, or throws `outbound_refused` or `outbound_dns` with the reason. */
  check(url: string, init?: Pick<OutboundInit, 'allowInternal' | 'allowHost'>): Promise<void>;
}
