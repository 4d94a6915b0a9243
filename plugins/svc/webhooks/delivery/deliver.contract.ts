/** One attempt, ready to be sent: headers and signature are final. */
export interface AttemptRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes (D20). */
  readonly body: Buffer;
  /** Milliseconds for all phases up to the response headers. Contract 8: 5,000 by default. */
  readonly timeout: number;
  /** Hops followed (D22). 2 by default. */
  readonly redirects: number;
  /** The endpoint's option "Allow private addresses" (D23). */
  readonly allowInternal: boolean;
  readonly signal?: AbortSignal;
}

/** Why an attempt failed. `status`: the response was not 2xx; `answer`: the response was not readable HTTP. */
export type AttemptFailure =
  'dns' | 'connect' | 'tls' | 'timeout' | 'guard' | 'redirect' | 'reset' | 'answer' | 'status' | 'filter' | 'aborted';

export interface AttemptOutcome {
  readonly ok: boolean;
  /** HTTP status of the last response, or null without one. */
  readonly status: number | null;
  readonly failure: AttemptFailure | null;
  /** One sentence for people; null on success. Never contains the secret. */
  readonly error: string | null;
  /** Whether contract 3 retries this failure: network errors, 408, 409, 425, 429 and 5xx. */
  readonly retryable: boolean;
  /** Seconds that `Retry-After` on 429 and 503 asks for, above 0, or null (D45). */
  readonly retryAfter: number | null;
  /** Milliseconds. */
  readonly duration: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** At most 16 KB, as text (D22). */
  readonly responseBody: string;
  /** URL of the response, after redirects. */
  readonly finalUrl: string;
}

/** Sends one attempt. Never rejects: every failure is an outcome. */
export type Deliver = (request: AttemptRequest) => Promise<AttemptOutcome>;
