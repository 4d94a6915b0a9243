import type { AttemptOutcome } from '../delivery/deliver.contract.ts';
import { batchSize, type ClaimRequest, type JobResult, type Job } from '../store/store-contract.ts';

/** Concurrent attempts to a new endpoint, and the maximum to one that responds quickly. */
export const initialConcurrency = 4;
export const maxConcurrency = 64;
/** Responses that take longer do not raise the concurrency, in milliseconds. */
const quickResponse = 1_000;
/** Concurrency from which on an endpoint is so quick that it would wait for each claim without a deep buffer. */
const quickConcurrency = 32;
/** Claimed jobs as multiples of the concurrency: below `least` the queue claims up to `most`. */
const bufferDepth = { usual: { least: 2, most: 5 }, quick: { least: 10, most: 20 } } as const;

/** Milliseconds after which a queue looks again whether its deliveries are still held. */
const heldInterval = 1_000;

/** The jobs of one endpoint in this process. Queues do not wait for each other. */
export interface EndpointQueue {
  readonly id: string;
  /** Maximum number of concurrent attempts. */
  limit: number;
  inFlight: number;
  /** Claimed, not yet sent. */
  readonly buffer: Job[];
  /** Whether the database may hold due jobs. */
  ready: boolean;
  /** When the next job is due, on the monotonic clock; null: no job is waiting. */
  nextAt: number | null;
  /** Paused by its circuit: one probe at a time. */
  paused: boolean;
  /** Its deliveries wait because a secret cannot be decrypted: nothing is claimed. */
  held: boolean;
  delivered: number;
  failed: number;
  retried: number;
}

export function createEndpointQueue(id: string): EndpointQueue {
  return {
    id,
    limit: initialConcurrency,
    inFlight: 0,
    buffer: [],
    ready: true,
    nextAt: null,
    paused: false,
    held: false,
    delivered: 0,
    failed: 0,
    retried: 0,
  };
}

/** Raises the limit after quick responses, halves it after refusals, and sets it to one after a timeout. */
export function adjustConcurrency(
  queue: EndpointQueue,
  { failure, status, duration }: Pick<AttemptOutcome, 'failure' | 'status' | 'duration'>,
): void {
  if (failure === 'timeout') queue.limit = 1;
  else if (
    failure === 'connect' ||
    failure === 'reset' ||
    failure === 'dns' ||
    failure === 'tls' ||
    status === 429 ||
    status === 503
  )
    queue.limit = Math.max(1, Math.floor(queue.limit / 2));
  else if (duration <= quickResponse) queue.limit = Math.min(maxConcurrency, queue.limit + 1);
}

/** What to claim for the queue: nothing, or one request. */
export function claimFor(
  queue: EndpointQueue,
  { now, mayProbe, ahead }: { readonly now: number; readonly mayProbe: () => boolean; readonly ahead: boolean },
): readonly ClaimRequest[] {
  if (!queue.ready && queue.nextAt !== null && queue.nextAt <= now) queue.ready = true;
  if (!queue.ready || queue.held) return [];
  if (queue.paused)
    return queue.inFlight + queue.buffer.length === 0 && mayProbe()
      ? [{ endpointId: queue.id, batches: 1, limit: 1 }]
      : [];
  // A multiple of the concurrency is claimed: attempts continue while the next claim waits for the disk.
  const { least, most } = ahead && queue.limit >= quickConcurrency ? bufferDepth.quick : bufferDepth.usual;
  if (queue.buffer.length > queue.limit * least) return [];
  const wanted = queue.limit * most - queue.buffer.length - queue.inFlight;
  return wanted > 0 ? [{ endpointId: queue.id, batches: Math.ceil(wanted / batchSize) }] : [];
}

/** Maximum number of claimed, unsent jobs of all endpoints together: some 3 KB each. */
export const maxBuffered = 8_192;

/**
 * What to claim for all queues. At `maxBuffered` jobs only empty queues claim.
 *
 * @param ahead claim deep buffers for quick endpoints, because this process works on while the claim runs.
 */
export function claimsFor(
  queues: Iterable<EndpointQueue>,
  {
    now,
    mayProbe,
    ahead,
  }: { readonly now: number; readonly mayProbe: (queue: EndpointQueue) => boolean; readonly ahead: boolean },
): ClaimRequest[] {
  const all = [...queues];
  let held = 0;
  for (const { buffer } of all) held += buffer.length;
  const claiming = held < maxBuffered ? all : all.filter(({ buffer }) => buffer.length === 0);
  return claiming.flatMap((queue) => claimFor(queue, { now, ahead, mayProbe: () => mayProbe(queue) }));
}

/** When the queue next has work without being woken; empty: never. */
export function nextWakeTime(
  { nextAt, paused, held, ready }: EndpointQueue,
  { now, probeAt }: { readonly now: number; readonly probeAt: () => number },
): readonly number[] {
  if (held) return ready || nextAt !== null ? [now + heldInterval] : [];
  if (paused) return ready || nextAt !== null ? [probeAt()] : [];
  return nextAt === null || ready ? [] : [nextAt];
}

/** Updates counters and due time after a result was written. */
export function recordResult(queue: EndpointQueue, { state, delay, attempted }: JobResult, now: number): void {
  if (state === 'delivered') queue.delivered += 1;
  else if (state === 'failed') queue.failed += 1;
  else {
    const at = now + delay + 1;
    queue.nextAt = queue.nextAt === null ? at : Math.min(queue.nextAt, at);
    queue.retried += Number(attempted);
  }
}

/** Drops jobs whose lease this process has lost. */
export function dropLost(queue: EndpointQueue, isLost: (job: Job) => boolean): void {
  const own = queue.buffer.filter((job) => !isLost(job));
  if (own.length < queue.buffer.length) queue.ready = true;
  queue.buffer.splice(0, Infinity, ...own);
}

/** Removes and returns the jobs that a slowed-down queue no longer needs, so that other nodes can send them. */
export function takeSurplus(queue: EndpointQueue): Job[] {
  const surplus = queue.buffer.splice(Math.max(batchSize, queue.limit));
  if (surplus.length > 0) queue.ready = true;
  return surplus;
}

/**
 * Sets when the next job is due, after a claim that returned fewer jobs than requested.
 *
 * @param next `wait` and `longest` in milliseconds; `wait` undefined: unknown, null: no job is waiting.
 */
export function setNextDue(
  queue: EndpointQueue,
  next: { readonly wait: number | null | undefined; readonly now: number; readonly longest: number },
): void {
  if (next.wait === undefined) queue.ready = true;
  // A retry that was recorded in the meantime may be earlier.
  else if (next.wait !== null)
    queue.nextAt = Math.min(queue.nextAt ?? Infinity, next.now + Math.min(next.wait, next.longest) + 1);
}
