import type { Knex } from '#plugin-api';
import type { DeliveryFailure } from '../delivery.ts';

/** A job this process holds a lease on. */
export interface Job {
  readonly id: number;
  /** `X-SVC-Delivery-Id`. */
  readonly uuid: string;
  readonly endpointId: string;
  /** Fencing token: an outcome under an older one is not written. */
  readonly token: number;
  readonly attempts: number;
  readonly runStart: number;
  /** JSON of the target, where a filter made or changed it. */
  readonly target: string | null;
  /** One at a time of those with the same key. */
  readonly orderKey: string | null;
  /** Bytes of this delivery, where a filter changed them. */
  readonly ownBody: Buffer | null;
  /** null: the event is not stored any more. */
  readonly event: StoredEvent | null;
}

export interface StoredEvent {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly key: string;
  readonly body: Buffer;
  readonly unfiltered: boolean;
}

export interface NewDelivery {
  readonly uuid: string;
  readonly endpointId: string;
  readonly orderKey: string | null;
  readonly target: string | null;
  /** Stored as failed, for this reason, and never sent by itself. */
  readonly failed: { readonly failure: DeliveryFailure; readonly error: string } | null;
  /** Milliseconds until the queue may take it; 0: at once. */
  readonly wait: number;
}

export interface NewEvent {
  readonly uuid: string;
  readonly name: string;
  readonly key: string;
  readonly body: Buffer;
  readonly unfiltered: boolean;
  /** JSON of what the event was emitted with, where a filter has to see it again. */
  readonly context: string | null;
  readonly deliveries: readonly NewDelivery[];
}

/** What one attempt, or the end of a job, leaves behind. */
export interface Finish {
  readonly job: Job;
  readonly state: 'pending' | 'delivered' | 'failed';
  /** Milliseconds until it is due again; only for `pending`. */
  readonly delay: number;
  /** 1 when an attempt was made. */
  readonly made: 0 | 1;
  /** The attempt does not count against the schedule: a probe of a paused endpoint. */
  readonly free: boolean;
  readonly status: number | null;
  readonly failure: DeliveryFailure | null;
  readonly error: string | null;
  readonly duration: number | null;
  /** Record of the attempt as JSON. */
  readonly log: string | null;
}

export interface ClaimRequest {
  readonly endpointId: string;
  /** Passes of five jobs (contract 8). */
  readonly passes: number;
  /** At most so many, for probes. */
  readonly most?: number;
}

export interface Turn {
  readonly finished: readonly Finish[];
  /** Claimed and not sent: given back as they were. */
  readonly released: readonly Job[];
  readonly claims: readonly ClaimRequest[];
}

export interface TurnResult {
  readonly jobs: readonly Job[];
  /** Jobs whose outcome was not written, because somebody else holds them by now. */
  readonly stale: readonly Job[];
  /** Endpoints of which nothing more is due, with the milliseconds until something is; null: nothing waits. May come later than the jobs, which need not wait for it. */
  readonly idle: Waits | Promise<Waits>;
}

export type Waits = ReadonlyMap<string, number | null>;

export interface Heartbeat {
  /** Whether leases of others were freed. */
  readonly freed: boolean;
  /** Whether a job that this process had claimed before is not its own any more. */
  readonly isLost: (job: Job) => boolean;
  /** The database's time. */
  readonly time: number;
}

/** The queue in the database. All times are the database's. One instance per process. */
export interface Store {
  /** Whether this process goes on while a claim is under way; then it pays to claim far ahead. */
  readonly isElsewhere: boolean;
  /** All of it in one transaction, however often it is called. @param init `durable`: on the disk when it resolves; `again`: an earlier call may have stored it. */
  add(
    events: readonly NewEvent[],
    init: { readonly transaction?: Knex.Transaction; readonly durable: boolean; readonly again?: boolean },
  ): Promise<void>;
  /** Writes outcomes, gives back, and claims, in as few trips as the database allows. When it rejects, the same outcomes may be handed in again, written or not; nothing was claimed. */
  turn(turn: Turn): Promise<TurnResult>;
  /** Claims these very deliveries, those of them that nobody else holds. */
  claimThese(uuids: readonly string[]): Promise<readonly Job[]>;
  /** Lengthens this process's leases and frees those of others that ran out. */
  heartbeat(): Promise<Heartbeat>;
  /** Shortens waits that are longer than they were meant to be, because the database's clock was set back. Answers how many jobs fall due earlier now. */
  mendTimes(): Promise<number>;
  /** Endpoints with open jobs: one seek each, however many jobs there are. */
  openEndpoints(): Promise<readonly string[]>;
  /** Keeps the bytes that a filter made, before they are sent for the first time. Answers false when somebody else holds the job by now. */
  keepBody(job: Job, body: Buffer): Promise<boolean>;
  /** See NewEvent. */
  contextOf(eventId: number): Promise<string | null>;
  /** Ids of rows among these that are being worked on. */
  leased(ids: readonly number[]): Promise<ReadonlySet<number>>;
}

/** Milliseconds a lease holds, and how often it is lengthened. */
export const leaseTime = 15_000;
export const heartbeatInterval = 4_000;
/** A wait may be so much longer than it was meant to be, before the clock is blamed, in milliseconds. Jitter and a busy database are within it. */
export const mendSlack = 60_000;
/** Jobs of one pass (contract 8). */
export const passSize = 5;
