import type { SecretStore } from '#plugin-api';
import type { Catalogue } from './catalogue.ts';
import type {
  Condition,
  Delivery,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryPage,
  Replay,
  ReplayRequest,
  WebhookMetrics,
} from './delivery.ts';
import type { Circuit, Endpoint, EndpointInput, WebhookSettings } from './endpoint.ts';
import type { Emit, Envelope } from './event.ts';

/** Endpoints, switch and secret (contract 2.7). Every node applies changes within a second. */
export interface WebhookAdministration {
  settings(): Promise<WebhookSettings>;
  setEnabled(enabled: boolean): Promise<void>;
  /** Generates and saves a `whsec_` secret and returns it; it cannot be read again. No overlap: see `rotateSecret`. */
  generateSecret(): Promise<string>;
  /** Saves a given secret unchanged. '' is refused: see `clearSecret`. @throws RestError 400 with `data.params`. */
  setSecret(value: string): Promise<void>;
  /** Generates a new secret. For `overlap` seconds (default: a day) the Standard Webhooks header also carries the old signature. */
  rotateSecret(overlap?: number): Promise<string>;
  clearSecret(): Promise<void>;
  /** Signing secrets and custom headers. */
  readonly secretStore: SecretStore;
  /** @throws RestError 400 with `data.params: {field: sentence}`. */
  addEndpoint(input: EndpointInput): Promise<Endpoint>;
  /**
   * A URL of another origin removes the saved secret and headers that are not entered again (D35).
   *
   * @throws RestError 404 for an unknown id.
   */
  updateEndpoint(id: string, input: EndpointInput): Promise<Endpoint>;
  removeEndpoint(id: string): Promise<boolean>;
  setDeliveredDays(days: number): Promise<void>;
}

/** Deliveries and their attempts, retries, replays and metrics. */
export interface DeliveryLog {
  /** Newest first. @param page `before`: the `next` of the page before; `limit` 1 to 200, default 50. */
  list(filter?: DeliveryFilter, page?: { readonly before?: string; readonly limit?: number }): Promise<DeliveryPage>;
  get(id: string): Promise<DeliveryDetail | null>;
  /** The envelopes of the last events with a delivery, newest first, without those whose bodies are not stored. */
  recentEvents(limit: number): Promise<Envelope[]>;
  /** Failed deliveries that were not cleared, newest first; five by default (contract 3). */
  recentFailures(limit?: number): Promise<Delivery[]>;
  /**
   * Retries a failed delivery with the same id. Returns false if it is not failed, so repeated clicks count once.
   * @throws RestError 409 `rest_svc_delivery_body_deleted` if its body was deleted for privacy (D20).
   *
   * @param attempts retry only if the delivery has made this many, so that a click on an old page has no effect.
   */
  retry(id: string, attempts?: number): Promise<boolean>;
  /** Removes a failed delivery from the recent failures. Returns false if it was not among them. */
  clear(id: string): Promise<boolean>;
  /** Sends finished deliveries again with the same ids and bodies and new timestamps. Continues in the background and after a restart. */
  replay(request: ReplayRequest): Promise<Replay>;
  replays(): Promise<Replay[]>;
  stopReplay(id: string): Promise<boolean>;
  /** Which conditions an event currently meets for an endpoint (contract 6.1). */
  checkEligibility(event: string, endpointId: string): Promise<Condition[]>;
  circuits(): Promise<Circuit[]>;
  /** Ends the pause of an endpoint. */
  resume(endpointId: string): Promise<boolean>;
  metrics(): Promise<WebhookMetrics>;
}

/** The event webhooks of the site. One per process. */
export interface Webhooks extends WebhookAdministration {
  readonly catalogue: Catalogue;
  readonly emit: Emit;
  readonly deliveryLog: DeliveryLog;
  /** Works the queue until nothing is due, for the command line and cron. Returns the number of attempts. */
  work(): Promise<number>;
  /** Starts working the queue in the background. */
  start(): Promise<void>;
  /** Claims no more jobs, waits for in-flight attempts, writes their results and releases unsent jobs. */
  stop(): Promise<void>;
  /** Whether this process has sent an event, or looked at deliveries. Most commands never do. */
  hasStarted(): boolean;
}
