import type { AttemptFailure } from './delivery/deliver.contract.ts';

/** D20. */
export type DeliveryState = 'pending' | 'delivering' | 'delivered' | 'failed';

/** `stopped`: not sent, because endpoint or switch do not allow it any more. */
export type DeliveryFailure = AttemptFailure | 'stopped';

/** One event to one endpoint: a job of the queue, and its line in the recorder. Times: milliseconds since the epoch, of the database. */
export interface Delivery {
  /** UUID; `X-SVC-Delivery-Id` of every attempt. */
  readonly id: string;
  readonly eventId: string;
  readonly event: string;
  readonly endpointId: string;
  /** Name of the endpoint, also when it was deleted since. */
  readonly endpointName: string;
  readonly state: DeliveryState;
  /** Attempts made so far, over all runs. */
  readonly attempts: number;
  /** Pending: when the next attempt is due; 0: at once. Delivering: until when the lease holds. */
  readonly dueAt: number | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly httpStatus: number | null;
  readonly failure: DeliveryFailure | null;
  readonly error: string | null;
  /** Milliseconds of the last attempt. */
  readonly duration: number | null;
}

export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly status: number | null;
  readonly failure: DeliveryFailure | null;
  readonly error: string | null;
  readonly url: string;
  /** As sent, secret values masked. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Value of X-SVC-Timestamp. */
  readonly timestamp: string;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;
  /** When the next attempt was to be made; null: none. */
  readonly nextTryAt: number | null;
}

export interface DeliveryDetail extends Delivery {
  /** The exact bytes of every attempt, as text. */
  readonly body: string;
  /** Newest last. */
  readonly attemptLog: readonly Attempt[];
}

export interface DeliveryFilter {
  readonly state?: DeliveryState;
  readonly event?: string;
  readonly endpointId?: string;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly until?: number;
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** Hand it back as `before` to get the next page; null: this is the last. */
  readonly next: string | null;
}

/** A row of the "why not" view: one condition of contract 6.1, or one filter. */
export interface Condition {
  readonly id:
    'switch' | 'enabled' | 'url' | 'subscribed' | 'envelope_filter' | 'targets_filter' | 'processing' | 'circuit';
  readonly label: string;
  readonly met: boolean;
  /** What to do when it is not met. */
  readonly hint: string;
}

export interface ReplayRequest {
  /** Ids of deliveries; or all of a time. */
  readonly deliveries?: readonly string[];
  readonly since?: number;
  readonly until?: number;
  readonly endpointId?: string;
  readonly event?: string;
  /** Default: finished ones of both kinds. */
  readonly state?: 'delivered' | 'failed';
  /** Deliveries put back into the queue a second; default 100. */
  readonly rate?: number;
}

/** A replay goes on after a restart, where it was. */
export interface Replay {
  readonly id: string;
  readonly state: 'running' | 'done' | 'stopped';
  readonly replayed: number;
  /** Deliveries the request picked when it was made. */
  readonly total: number;
  readonly createdAt: number;
}

export interface EndpointMetrics {
  readonly endpointId: string;
  readonly delivered: number;
  readonly failed: number;
  readonly retried: number;
  /** Attempts under way on this node. */
  readonly inFlight: number;
  /** Attempts this node may make at once now. */
  readonly limit: number;
  readonly waiting: number;
}

export interface WebhookMetrics {
  /** Counted by this process since it started. */
  readonly delivered: number;
  readonly failed: number;
  readonly retried: number;
  readonly emitted: number;
  readonly inFlight: number;
  /** Seconds that the oldest job which is due has waited. */
  readonly queueAge: number;
  readonly waiting: number;
  readonly endpoints: readonly EndpointMetrics[];
}
