import type { AttemptFailure } from './delivery/deliver.contract.ts';

/** D20. */
export type DeliveryState = 'pending' | 'delivering' | 'delivered' | 'failed';

/**
 * `stopped`: not sent, because the endpoint or event webhooks were turned off. `body_deleted`: not sent, because the body
 * was deleted for privacy (D20).
 */
export type DeliveryFailure = AttemptFailure | 'stopped' | 'body_deleted';

/** Why the body is no longer stored: the chatbot or form stores nothing, or the data of a person was erased (D20). */
export type BodyDeletion = 'not_kept' | 'erased';

/**
 * One event to one endpoint: a job of the queue and a line of the delivery log. Times are the database's, in milliseconds
 * since the epoch.
 */
export interface Delivery {
  /** UUID; `X-SVC-Delivery-Id` of every attempt. */
  readonly id: string;
  readonly eventId: string;
  readonly event: string;
  readonly endpointId: string;
  /** Name of the endpoint, even if it has been deleted. */
  readonly endpointName: string;
  readonly state: DeliveryState;
  /** Attempts so far, including those before a manual retry. */
  readonly attempts: number;
  /** When the next attempt is due; 0: now; null: finished. */
  readonly dueAt: number | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly httpStatus: number | null;
  readonly failure: DeliveryFailure | null;
  readonly error: string | null;
  /** Milliseconds of the last attempt. */
  readonly duration: number | null;
  /** null: the body is stored. */
  readonly bodyDeleted: BodyDeletion | null;
  /** Why a pending delivery waits, see `Endpoint.held`; null: it does not, or is not pending. */
  readonly held: string | null;
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
  /** When the next attempt was scheduled; null: none. */
  readonly nextTryAt: number | null;
}

export interface DeliveryDetail extends Delivery {
  /** The exact body of every attempt, as text; empty if it was deleted. */
  readonly body: string;
  /** Whether the body is deleted as soon as no delivery of the event is open. */
  readonly isTemporary: boolean;
  /** Milliseconds since the epoch; null: the body is stored. */
  readonly bodyDeletedAt: number | null;
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
  /** Pass it as `before` to get the next page; null: last page. */
  readonly next: string | null;
}

/** A row of the delivery check: a condition of contract 6.1, or a filter. */
export interface Condition {
  readonly id:
    | 'switch'
    | 'enabled'
    | 'url'
    | 'subscribed'
    | 'content'
    | 'secret'
    | 'envelope_filter'
    | 'targets_filter'
    | 'processing'
    | 'circuit';
  readonly label: string;
  readonly met: boolean;
  /** What to do if the condition is not met. */
  readonly hint: string;
}

export interface ReplayRequest {
  /** Ids of deliveries; without them, all of a time span. */
  readonly deliveries?: readonly string[];
  readonly since?: number;
  readonly until?: number;
  readonly endpointId?: string;
  readonly event?: string;
  /** Default: both. */
  readonly state?: 'delivered' | 'failed';
  /** Deliveries queued again per second; default 100. */
  readonly rate?: number;
}

/** A replay. It continues after a restart. */
export interface Replay {
  readonly id: string;
  readonly state: 'running' | 'done' | 'stopped';
  readonly replayed: number;
  /** Deliveries that matched when the replay was created. */
  readonly total: number;
  /** Further deliveries that matched and cannot be sent again, because their bodies were deleted for privacy (D20). */
  readonly withoutBody: number;
  readonly createdAt: number;
}

export interface EndpointMetrics {
  readonly endpointId: string;
  readonly delivered: number;
  readonly failed: number;
  readonly retried: number;
  /** In-flight attempts of this node. */
  readonly inFlight: number;
  /** Maximum concurrent attempts of this node. */
  readonly limit: number;
  readonly waiting: number;
  /** Whether its deliveries are held, as this node sees it. */
  readonly isHeld: boolean;
}

export interface WebhookMetrics {
  /** Counts of this process since its start. */
  readonly delivered: number;
  readonly failed: number;
  readonly retried: number;
  readonly emitted: number;
  readonly inFlight: number;
  /** Age of the oldest pending job in seconds. */
  readonly queueAge: number;
  readonly waiting: number;
  readonly endpoints: readonly EndpointMetrics[];
}
