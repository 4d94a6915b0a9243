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
import type { Emit } from './event.ts';

/** Endpoints, switch and secret (contract 2.7). Changes are seen by every node within a second. */
export interface WebhookAdministration {
  settings(): Promise<WebhookSettings>;
  setEnabled(enabled: boolean): Promise<void>;
  /** Makes and saves a `whsec_` secret; the answer is the only time it can be read. There is no overlap: see `rotateSecret`. */
  generateSecret(): Promise<string>;
  /** Own values are taken as they are. '' is refused: see `clearSecret`. Throws RestError 400 with `data.params`. */
  setSecret(value: string): Promise<void>;
  /** A new secret, with the old one sent beside it in the Standard Webhooks header for `overlap` seconds (default a day). */
  rotateSecret(overlap?: number): Promise<string>;
  clearSecret(): Promise<void>;
  /** Throws RestError 400 with `data.params: {field: sentence}`. */
  addEndpoint(input: EndpointInput): Promise<Endpoint>;
  /** Throws RestError 404 when there is none of that id. */
  updateEndpoint(id: string, input: EndpointInput): Promise<Endpoint>;
  removeEndpoint(id: string): Promise<boolean>;
  setDeliveredDays(days: number): Promise<void>;
}

/** What was sent, and what becomes of it. */
export interface DeliveryLog {
  /** Newest first. @param page `before`: the `next` of the page before; `limit` 1 to 200, default 50. */
  list(filter?: DeliveryFilter, page?: { readonly before?: string; readonly limit?: number }): Promise<DeliveryPage>;
  get(id: string): Promise<DeliveryDetail | null>;
  /** The failed ones that were not cleared, newest first, five (contract 3). */
  recentFailures(limit?: number): Promise<Delivery[]>;
  /**
   * Runs a failed delivery again, same id. Answers false when it is not failed (any more): each click counts once.
   *
   * @param attempts given: only while it has made just so many, so that a click on an old page means the failure it shows.
   */
  retry(id: string, attempts?: number): Promise<boolean>;
  /** Takes a failed delivery from the list. Answers false when it was not on it. */
  clear(id: string): Promise<boolean>;
  /** Sends finished deliveries again: same ids and bytes, new timestamps. Goes on in the background, also after a restart. */
  replay(request: ReplayRequest): Promise<Replay>;
  replays(): Promise<Replay[]>;
  stopReplay(id: string): Promise<boolean>;
  /** Which conditions an event meets for an endpoint at this moment (contract 6.1). */
  checkEligibility(event: string, endpointId: string): Promise<Condition[]>;
  circuits(): Promise<Circuit[]>;
  /** Ends the pause of an endpoint. */
  resume(endpointId: string): Promise<boolean>;
  metrics(): Promise<WebhookMetrics>;
  /** In Prometheus's text format. */
  exposeMetrics(): Promise<string>;
}

/** The event webhooks of the site. One per process. */
export interface Webhooks extends WebhookAdministration {
  readonly catalogue: Catalogue;
  readonly emit: Emit;
  readonly deliveryLog: DeliveryLog;
  /** Works the queue until nothing is due, without what runs in the background; for the command line and cron. Answers how many attempts were made. */
  work(): Promise<number>;
  /** Begins to work the queue in the background. */
  start(): Promise<void>;
  /** Takes no new jobs, waits for attempts under way, writes their outcomes and gives back what was claimed and not sent. */
  stop(): Promise<void>;
}
