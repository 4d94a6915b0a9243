/** Where events go (contract 2.7). As pages and commands see it: secrets are masked. */
export interface Endpoint {
  /** Made by the service, never changes. */
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly enabled: boolean;
  /** Names of events, sorted, each once; `chatbot.feedback_submitted` is stored as `chatbot.fb_submitted` (D26). */
  readonly events: readonly string[];
  /** The "internal network" box (D23). */
  readonly internal: boolean;
  /** `ends in abcd` while the endpoint signs with a secret of its own; null: it signs with the common one. */
  readonly secret: string | null;
  /** Sent besides ours. Values that look secret are masked. */
  readonly headers: Readonly<Record<string, string>>;
  /** Send `webhook-id`, `webhook-timestamp` and `webhook-signature` too. */
  readonly standardWebhooks: boolean;
  /** Redirects followed, 0 to 5 (contract 8: 2). */
  readonly redirects: number;
  /** Go on for hours after the third attempt (D21). */
  readonly longTail: boolean;
  /** Deliver the events of one conversation one after the other. */
  readonly ordered: boolean;
}

/** What an administrator types. Left out members keep their value, or take the default in a new endpoint. */
export interface EndpointInput {
  readonly id?: string;
  readonly name?: string;
  readonly url?: string;
  readonly enabled?: boolean;
  readonly events?: readonly string[];
  readonly internal?: boolean;
  /** A secret of its own in plain text; '' takes it away. */
  readonly secret?: string;
  /** A value of null takes a header away, others are set; headers that are not named stay. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly standardWebhooks?: boolean;
  readonly redirects?: number;
  readonly longTail?: boolean;
  readonly ordered?: boolean;
}

/** An endpoint with its secrets in plain text, for the sender alone. What the filter of targets gets is a WebhookTarget. */
export interface EndpointSecrets {
  /** Newest first; the second one is valid until its rotation has ended. Empty: deliveries are not signed (contract 6.3). */
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What the filter `svc_event_webhooks_targets` sees and may change, leave out or add to (D24). */
export interface WebhookTarget {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly internal: boolean;
  readonly standardWebhooks: boolean;
  readonly redirects: number;
  readonly longTail: boolean;
  readonly ordered: boolean;
}

/** Why an endpoint is held back for the time being. */
export interface Circuit {
  readonly endpointId: string;
  /** Milliseconds since the epoch, time of the database. */
  readonly failingSince: number;
  /** Attempts that failed since the last one that did not. */
  readonly failures: number;
  /** null: not paused. */
  readonly pausedAt: number | null;
  readonly reason: string;
  readonly nextProbeAt: number | null;
}

export interface WebhookSettings {
  /** The global switch. */
  readonly enabled: boolean;
  /** `ends in abcd`, or null while deliveries are not signed. */
  readonly secret: string | null;
  /** Milliseconds since the epoch until which the secret before the last rotation is sent too; null: none is. */
  readonly previousSecretUntil: number | null;
  readonly endpoints: readonly Endpoint[];
  /** Days the log of delivered ones is kept; default 3. */
  readonly deliveredDays: number;
}
