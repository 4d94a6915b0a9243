import type { Knex } from '#plugin-api';
import type { DeliveryFailure } from '../delivery.ts';
import { bodyStates } from '../migrations.ts';

/** A delivery that this process holds a lease on. */
export interface Job {
  readonly id: number;
  /** `X-SVC-Delivery-Id`. */
  readonly uuid: string;
  readonly endpointId: string;
  /** Fencing token: a result under an older one is not written. */
  readonly token: number;
  readonly attempts: number;
  readonly runStart: number;
  /** JSON of the target, if a filter added or changed it. */
  readonly target: string | null;
  /** Jobs with the same key are sent one at a time. */
  readonly orderKey: string | null;
  /** Body of this delivery, if a filter changed it. */
  readonly bodyOverride: Buffer | null;
  /** null: the event is no longer stored. */
  readonly event: StoredEvent | null;
}

export interface StoredEvent {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly key: string;
  readonly body: Buffer;
  readonly needsEnvelopeFilter: boolean;
  /** A value of `bodyStates`. */
  readonly bodyState: number;
}

export interface NewDelivery {
  readonly uuid: string;
  readonly endpointId: string;
  readonly orderKey: string | null;
  readonly target: string | null;
  /** If set, the delivery is stored as failed and only sent when someone retries it. */
  readonly failed: { readonly failure: DeliveryFailure; readonly error: string } | null;
  /** Milliseconds until the queue may claim it; 0: at once. */
  readonly wait: number;
}

export interface NewEvent {
  readonly uuid: string;
  readonly name: string;
  readonly key: string;
  readonly body: Buffer;
  /** The envelope filter failed when the event was emitted and has to run before the event is sent. */
  readonly needsEnvelopeFilter: boolean;
  /** JSON of the emit context, for the envelope filter. */
  readonly context: string | null;
  /** A value of `bodyStates`. */
  readonly bodyState: number;
  /** See `EventContext.person`. */
  readonly userId: number | null;
  readonly sessionId: string | null;
  readonly deliveries: readonly NewDelivery[];
}

/** What to write after an attempt, or when a job ends without one. */
export interface JobResult {
  readonly job: Job;
  readonly state: 'pending' | 'delivered' | 'failed';
  /** Milliseconds until it is due again; only for `pending`. */
  readonly delay: number;
  /** Whether a request was sent. */
  readonly attempted: boolean;
  /** The attempt does not count against the retry schedule: a probe of a paused endpoint. */
  readonly exempt: boolean;
  readonly status: number | null;
  readonly failure: DeliveryFailure | null;
  readonly error: string | null;
  readonly duration: number | null;
  /** Record of the attempt as JSON. */
  readonly log: string | null;
}

export interface ClaimRequest {
  readonly endpointId: string;
  /** Batches of five jobs (contract 8). */
  readonly batches: number;
  /** Maximum number of jobs, for probes. */
  readonly limit?: number;
}

export interface Exchange {
  readonly finished: readonly JobResult[];
  /** Claimed but not sent; returned to the queue unchanged. */
  readonly released: readonly Job[];
  readonly claims: readonly ClaimRequest[];
}

export interface ExchangeResult {
  readonly jobs: readonly Job[];
  /** Jobs whose result was discarded because another process holds the lease. */
  readonly stale: readonly Job[];
  /** Endpoints with nothing more due. May resolve later than the jobs, which do not depend on it. */
  readonly nextDueIn: NextDueTimes | Promise<NextDueTimes>;
}

/** Milliseconds until the next job of an endpoint is due, by endpoint id; null: no job is waiting. */
export type NextDueTimes = ReadonlyMap<string, number | null>;

export interface Heartbeat {
  /** Whether expired leases of other processes were released. */
  readonly freed: boolean;
  /** Whether this process claimed the job earlier and has lost its lease. */
  readonly isLost: (job: Job) => boolean;
  /** The database's time. */
  readonly time: number;
}

/** The delivery queue in the database. All times are the database's. One instance per process. */
export interface Store {
  /** Whether this process can do other work while a claim runs; then claiming far ahead pays off. */
  readonly isRemote: boolean;
  /**
   * Stores all events in one transaction.
   *
   * @param init `durable`: on disk when the promise resolves; `again`: an earlier call may have stored them.
   */
  add(
    events: readonly NewEvent[],
    init: { readonly transaction?: Knex.Transaction; readonly durable: boolean; readonly again?: boolean },
  ): Promise<void>;
  /**
   * Writes results, releases and claims jobs in as few round trips as the database allows. After a rejection nothing is
   * claimed, and the same results may be passed again whether or not they were written.
   */
  exchange(exchange: Exchange): Promise<ExchangeResult>;
  /** Claims the given deliveries, except those that another process holds. */
  claimByUuid(uuids: readonly string[]): Promise<readonly Job[]>;
  /** Renews the leases of this process and releases expired ones of others. */
  heartbeat(): Promise<Heartbeat>;
  /** After the database's clock was set back: shortens waits that became too long. Returns how many jobs are due earlier. */
  correctClockSkew(): Promise<number>;
  /** Endpoints with open jobs: one index seek each, however many jobs are open. */
  openEndpoints(): Promise<readonly string[]>;
  /** Stores the body that a filter produced, before it is first sent. Returns false if another process holds the job. */
  saveBodyOverride(job: Job, body: Buffer): Promise<boolean>;
  /** See `NewEvent.context`. */
  readContext(eventId: number): Promise<string | null>;
  /** Which of these row ids are leased now. */
  findLeased(ids: readonly number[]): Promise<ReadonlySet<number>>;
}

/** Milliseconds that a lease lasts, and between two renewals. */
export const leaseDuration = 15_000;
export const heartbeatInterval = 4_000;
/** Milliseconds by which a wait may exceed its schedule before a clock set back is assumed; covers jitter and a busy database. */
export const skewTolerance = 60_000;
/** Jobs per batch (contract 8). */
export const batchSize = 5;

/** Ids, ascending, of the events with a temporary body that one of the results ends a delivery of. */
export function temporaryEvents(finished: readonly JobResult[]): readonly number[] {
  const ids = new Set<number>();
  for (const { job, state } of finished)
    if (state !== 'pending' && job.event?.bodyState === bodyStates.temporary) ids.add(job.event.id);
  return [...ids].sort((left, right) => left - right);
}

/** A job from the columns that both databases select, in their order. */
export function toJob(
  [
    id,
    uuid,
    attempts,
    runStart,
    target,
    bodyOverride,
    eventId,
    eventUuid,
    name,
    key,
    body,
    needsFilter,
    orderKey,
    bodyState,
  ]: readonly unknown[],
  { endpointId, token }: Pick<Job, 'endpointId' | 'token'>,
): Job {
  const event =
    eventId === null
      ? null
      : {
          id: eventId as number,
          uuid: eventUuid as string,
          name: name as string,
          key: key as string,
          // PostgreSQL sends it as text, which is faster.
          body: typeof body === 'string' ? Buffer.from(body) : (body as Buffer),
          needsEnvelopeFilter: needsFilter === 1,
          bodyState: bodyState as number,
        };
  return {
    id: id as number,
    uuid: uuid as string,
    endpointId,
    token,
    attempts: attempts as number,
    runStart: runStart as number,
    target: target as string | null,
    orderKey: orderKey as string | null,
    bodyOverride: bodyOverride as Buffer | null,
    event,
  };
}
