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
  /** Let names and addresses of private networks through. Cloud metadata addresses never (D23). Default false. */
  readonly allowInternal?: boolean;
  readonly signal?: AbortSignal;
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
 * Errors carry `code`: `outbound_refused`, `outbound_dns`, `outbound_connect`, `outbound_tls`, `outbound_timeout`, `outbound_too_large`, `outbound_redirects`.
 */
export interface HttpApi {
  fetch(url: string, init?: OutboundInit): Promise<OutboundResponse>;
}
