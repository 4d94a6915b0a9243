import type { Knex } from '#plugin-api';

/** Date-form version of all event schemas (contract 9). */
export const schemaVersion = '2026-05-21';

export interface EventResource {
  readonly type: string;
  readonly id: string;
  readonly label: string;
}

/** Contract 6.4. */
export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly schema_version: string;
  /** ISO 8601 with a numeric offset (D26). */
  readonly occurred_at: string;
  /** SHA-256 hex of event name and natural ids (D19). */
  readonly idempotency_key: string;
  readonly site: { readonly url: string; readonly name: string };
  readonly plugin: { readonly slug: string; readonly version: string };
  readonly source: { readonly module: string; readonly origin: string };
  readonly resource?: EventResource;
  readonly data: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Fourth argument of `doActionAsync('svc_event_emit', name, data, context)`. */
/** Origin of the example that an administrator sends to one endpoint, whether or not its filter matches and it is paused. */
export const testOrigin = 'admin_test';

export interface EventContext {
  /** `source.module`; default: that of the event's definition. */
  readonly module?: string;
  /** `source.origin`; default: the first of the event's definition (D17). */
  readonly origin?: string;
  /** Default: derived from the data by the event's definition. `id` is written as a string. */
  readonly resource?: { readonly type?: string; readonly id: string | number; readonly label?: string };
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Natural ids, if the data does not contain all of them (D19). */
  readonly key?: readonly (string | number)[];
  /** Default true. False: the body is deleted as soon as no delivery of the event is open (D20). */
  readonly keep?: boolean;
  /** Whom the event is about, so that an erasure finds it. Default: the user in `data.actor`. */
  readonly person?: { readonly userId?: number | null; readonly sessionId?: string | null };
  /** The event is stored only if this transaction commits. Inside `database.transaction` it is detected automatically. */
  readonly transaction?: Knex.Transaction;
}

/** Result of emitting; the first argument of the action `svc_event_webhooks_emitted` (D24). */
export interface EmitResult {
  readonly event: string;
  /** Slug of the plugin that emitted it. */
  readonly emitter: string;
  /** null if no event was created: unknown name or invalid data. */
  readonly envelope: Envelope | null;
  /** Ids of the endpoints. */
  readonly targets: readonly string[];
  /** Ids of the deliveries, in the order of the targets. */
  readonly deliveries: readonly string[];
  /** Whether the deliveries are queued. */
  readonly queued: boolean;
  /** Deliveries sent at once that succeeded. */
  readonly delivered: number;
  readonly failed: number;
  /** One sentence if the event was not stored; emitting never throws. */
  readonly error: string | null;
}

/**
 * Stores an event for all endpoints that receive it (contract 6.1). Never rejects. Durable when it resolves, unless a
 * transaction is given.
 */
export type Emit = (
  name: string,
  data: Readonly<Record<string, unknown>>,
  context?: EventContext,
) => Promise<EmitResult>;
