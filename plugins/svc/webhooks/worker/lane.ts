import type { AttemptOutcome } from '../delivery/deliver.contract.ts';
import { passSize, type ClaimRequest, type Finish, type Job } from '../store/store-contract.ts';

/** Attempts at once of an endpoint nobody knows yet, and of one that answers quickly. */
export const firstLimit = 4;
export const mostPerEndpoint = 64;
/** Answers that take longer are no reason to ask more at once, in milliseconds. */
const quick = 1_000;

/** Attempts at once of an endpoint that has answered quickly for a while: some hundred jobs are nothing to it, and it would wait for each claim. */
const knownQuick = 32;
/** How many times its limit a lane holds: below the least it asks for as many as make the most. */
const depth = { usual: { least: 2, most: 5 }, quick: { least: 10, most: 20 } } as const;

/** One endpoint's share of the work. Lanes do not wait for each other. */
export interface Lane {
  readonly id: string;
  /** Attempts that may be under way at once. */
  limit: number;
  inFlight: number;
  /** Claimed and not sent yet. */
  readonly buffer: Job[];
  /** Whether the database may hold something that is due. */
  ready: boolean;
  /** When the next job falls due, on the clock that never jumps; null: nothing waits. */
  nextAt: number | null;
  /** Paused by its circuit: one probe at a time. */
  paused: boolean;
  delivered: number;
  failed: number;
  retried: number;
}

export function createLane(id: string): Lane {
  return {
    id,
    limit: firstLimit,
    inFlight: 0,
    buffer: [],
    ready: true,
    nextAt: null,
    paused: false,
    delivered: 0,
    failed: 0,
    retried: 0,
  };
}

/** Grows while answers are quick, is halved by refusals, and falls to one by a time-out. */
export function adapt(
  lane: Lane,
  { failure, status, duration }: Pick<AttemptOutcome, 'failure' | 'status' | 'duration'>,
): void {
  if (failure === 'timeout') lane.limit = 1;
  else if (
    failure === 'connect' ||
    failure === 'reset' ||
    failure === 'dns' ||
    failure === 'tls' ||
    status === 429 ||
    status === 503
  )
    lane.limit = Math.max(1, Math.floor(lane.limit / 2));
  else if (duration <= quick) lane.limit = Math.min(mostPerEndpoint, lane.limit + 1);
}

/** What the lane asks the database for: nothing, or one request. */
export function claimOf(
  lane: Lane,
  { now, mayProbe, ahead }: { readonly now: number; readonly mayProbe: () => boolean; readonly ahead: boolean },
): readonly ClaimRequest[] {
  if (!lane.ready && lane.nextAt !== null && lane.nextAt <= now) lane.ready = true;
  if (!lane.ready) return [];
  if (lane.paused)
    return lane.inFlight + lane.buffer.length === 0 && mayProbe() ? [{ endpointId: lane.id, passes: 1, most: 1 }] : [];
  // Several times what may be under way waits here, so that a place is taken the moment it is free, and while the next claim is under way, which may wait for the disk.
  const { least, most } = ahead && lane.limit >= knownQuick ? depth.quick : depth.usual;
  if (lane.buffer.length > lane.limit * least) return [];
  const wanted = lane.limit * most - lane.buffer.length - lane.inFlight;
  return wanted > 0 ? [{ endpointId: lane.id, passes: Math.ceil(wanted / passSize) }] : [];
}

/** Jobs that wait in this process for their turn, of all endpoints together: some 3 KB each. */
export const mostHeld = 8_192;

/**
 * What all lanes ask for. With so much in hand already, those alone that have nothing to send.
 *
 * @param ahead more than is needed now, of quick ones: this process goes on while the claim is under way.
 */
export function claimsOf(
  lanes: Iterable<Lane>,
  {
    now,
    mayProbe,
    ahead,
  }: { readonly now: number; readonly mayProbe: (lane: Lane) => boolean; readonly ahead: boolean },
): ClaimRequest[] {
  const all = [...lanes];
  let held = 0;
  for (const { buffer } of all) held += buffer.length;
  const asking = held < mostHeld ? all : all.filter(({ buffer }) => buffer.length === 0);
  return asking.flatMap((lane) => claimOf(lane, { now, ahead, mayProbe: () => mayProbe(lane) }));
}

/** When the lane has something to do again, by itself; empty: when it is woken. */
export function waitOf({ nextAt, paused, ready }: Lane, probeAt: () => number): readonly number[] {
  if (paused) return ready || nextAt !== null ? [probeAt()] : [];
  return nextAt === null || ready ? [] : [nextAt];
}

/** Takes note of an outcome that was written. */
export function note(lane: Lane, { state, delay, made }: Finish, now: number): void {
  if (state === 'delivered') lane.delivered += 1;
  else if (state === 'failed') lane.failed += 1;
  else {
    const at = now + delay + 1;
    lane.nextAt = lane.nextAt === null ? at : Math.min(lane.nextAt, at);
    lane.retried += made;
  }
}

/** Jobs that are somebody else's by now are not sent. */
export function dropLost(lane: Lane, isLost: (job: Job) => boolean): void {
  const kept = lane.buffer.filter((job) => !isLost(job));
  if (kept.length < lane.buffer.length) lane.ready = true;
  lane.buffer.splice(0, Infinity, ...kept);
}

/** What a lane that has slowed down holds beyond its need; taken out, for others to send. */
export function surplusOf(lane: Lane): Job[] {
  const surplus = lane.buffer.splice(Math.max(passSize, lane.limit));
  if (surplus.length > 0) lane.ready = true;
  return surplus;
}

/** What a claim that found less than it asked for learnt of the lane's next job. @param next `wait` and `longest` in milliseconds; undefined: unknown, null: there is none. */
export function takeWait(
  lane: Lane,
  next: { readonly wait: number | null | undefined; readonly now: number; readonly longest: number },
): void {
  if (next.wait === undefined) lane.ready = true;
  // A retry noted meanwhile may be nearer.
  else if (next.wait !== null)
    lane.nextAt = Math.min(lane.nextAt ?? Infinity, next.now + Math.min(next.wait, next.longest) + 1);
}
