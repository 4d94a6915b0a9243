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
    svc_event_webhooks_envelope: (envelope: Envelope, event: string, data: Data, context: EventContext) => Envelope;
    svc_event_webhooks_targets: (
      targets: readonly WebhookTarget[],
      event: string,
      envelope: Envelope,
      context: EventContext,
    ) => readonly WebhookTarget[];
    svc_event_webhooks_request_headers: (headers: Headers, envelope: Envelope, deliveryId: string) => Headers;
    svc_event_webhooks_request_args: (args: RequestArgs, headers: Headers, body: string) => RequestArgs;
    svc_event_webhooks_should_retry: (
      retryable: boolean,
      outcome: { readonly status: number | null; readonly error: string | null },
      attempt: number,
      maxAttempts: number,
    ) => boolean;
    /** Seconds before each attempt; the number of entries is the number of attempts. */
    svc_event_webhooks_retry_delays: (delays: readonly number[]) => readonly number[];
    svc_event_delivery_queue_async_enabled: (
      enabled: boolean,
      event: string,
      envelope: Envelope,
      context: EventContext,
      targets: readonly WebhookTarget[],
    ) => boolean;
    svc_event_delivery_queue_processing_enabled: (enabled: boolean) => boolean;
  }
  interface ActionMap {
    svc_event_emit: (event: string, data: Data, context?: EventContext) => void;
    svc_event_webhooks_emitted: (result: EmitResult, context: EventContext) => void;
    svc_event_webhooks_delivery_completed: (result: DeliveryResult, target: WebhookTarget, envelope: Envelope) => void;
    svc_event_webhooks_delivery_failed: (result: DeliveryResult, target: WebhookTarget, envelope: Envelope) => void;
    /** An endpoint is paused after repeated failures; its deliveries wait. */
    svc_event_webhooks_endpoint_paused: (endpointId: string, reason: string) => void;
    svc_event_webhooks_endpoint_resumed: (endpointId: string) => void;
    /** Deliveries wait on this node, because a secret or header of the endpoint is set but cannot be decrypted. */
    svc_event_webhooks_endpoint_held: (endpointId: string, reason: string) => void;
    svc_event_webhooks_endpoint_released: (endpointId: string) => void;
  }
}
