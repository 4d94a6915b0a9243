import type { DeliveryState } from './delivery.ts';
import type { WebhookTarget } from './endpoint.ts';
import type { EmitResult, Envelope, EventContext } from './event.ts';

type Data = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

/** Arguments of one request. `timeout` in seconds, `redirection` in hops (D24). */
export interface RequestArgs {
  readonly timeout: number;
  readonly redirection: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface DeliveryResult {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly status: DeliveryState;
  readonly attempts: number;
  readonly http_status: number | null;
  readonly duration_ms: number;
  readonly error?: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The envelope of an event, before the endpoints are chosen and it is stored. */
    svc_event_webhooks_envelope: (envelope: Envelope, event: string, data: Data, context: EventContext) => Envelope;
    /** The endpoints that get an event. */
    svc_event_webhooks_targets: (
      targets: readonly WebhookTarget[],
      event: string,
      envelope: Envelope,
      context: EventContext,
    ) => readonly WebhookTarget[];
    /** The headers of an attempt, before it is signed and sent. */
    svc_event_webhooks_request_headers: (headers: Headers, envelope: Envelope, deliveryId: string) => Headers;
    /** Time limit in seconds, redirects, headers and body of an attempt. The signature is computed after it. */
    svc_event_webhooks_request_args: (args: RequestArgs, headers: Headers, body: string) => RequestArgs;
    /** Whether a failed attempt is tried again. `attempt` begins at 1. */
    svc_event_webhooks_should_retry: (
      retryable: boolean,
      outcome: { readonly status: number | null; readonly error: string | null },
      attempt: number,
      maxAttempts: number,
    ) => boolean;
    /** Seconds before each attempt; the number of entries is the number of attempts. */
    svc_event_webhooks_retry_delays: (delays: readonly number[]) => readonly number[];
    /** Whether an event is queued. If not, it is sent at once, and the emitter waits for the responses. */
    svc_event_delivery_queue_async_enabled: (
      enabled: boolean,
      event: string,
      envelope: Envelope,
      context: EventContext,
      targets: readonly WebhookTarget[],
    ) => boolean;
    /** Email addresses that get a mail when deliveries to an endpoint are paused or resume. Default: the administrators. */
    svc_event_webhooks_mail_recipients: (addresses: readonly string[], endpointId: string) => readonly string[];
    /** Whether this process sends queued deliveries. */
    svc_event_delivery_queue_processing_enabled: (enabled: boolean) => boolean;
  }
  interface ActionMap {
    /** Run it with `doActionAsync` to send an event: its name, data that match its schema, and what is known of its origin. */
    svc_event_emit: (event: string, data: Data, context?: EventContext) => void;
    /** After an event was stored and queued or sent, or was refused: `result.error` says why. */
    svc_event_webhooks_emitted: (result: EmitResult, context: EventContext) => void;
    /** After an endpoint accepted a delivery. */
    svc_event_webhooks_delivery_completed: (result: DeliveryResult, target: WebhookTarget, envelope: Envelope) => void;
    /** After the last attempt of a delivery failed. */
    svc_event_webhooks_delivery_failed: (result: DeliveryResult, target: WebhookTarget, envelope: Envelope) => void;
    /** An endpoint is paused after repeated failures or a 410; its deliveries wait. One node runs it. */
    svc_event_webhooks_endpoint_paused: (endpointId: string, reason: string) => void;
    /** A paused endpoint gets deliveries again. */
    svc_event_webhooks_endpoint_resumed: (endpointId: string) => void;
    /** Deliveries wait on this node, because a secret or header of the endpoint is set but cannot be decrypted. */
    svc_event_webhooks_endpoint_held: (endpointId: string, reason: string) => void;
    /** Secret and headers of a held endpoint can be decrypted again, and its deliveries continue. */
    svc_event_webhooks_endpoint_released: (endpointId: string) => void;
  }
}
