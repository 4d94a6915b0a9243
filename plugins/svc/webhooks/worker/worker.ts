import type { HostApi, Undo } from '#plugin-api';
import type { Attempted, MakeAttempt } from '../attempt.ts';
import { heartbeatInterval, passSize, type ClaimRequest, type Finish, type Job, type Store } from '../store/store-contract.ts';
import type { Circuits } from './circuits.ts';
import { adapt, createLane, firstLimit, type Lane } from './lane.ts';

/** Attempts at once of this process that its quick endpoints share. */
const shared = 64;
/** And of all its endpoints together. */
const mostInFlight = 1_024;
/** Milliseconds that outcomes wait for company before they are written. */
const gather = 4;
const fullBatch = 64;
/** Longest a worker trusts its own memory of what is due, in milliseconds. */
const longestSleep = 60_000;

export interface WorkerParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock' | 'log'>;
  readonly store: Store;
  readonly attempt: MakeAttempt;
  readonly circuits: Circuits;
  readonly elapsed: () => number;
  /** Told of each outcome that was written. */
  readonly written: (attempted: Attempted) => void;
  readonly isOrdered: (endpointId: string) => boolean;
}

export interface Worker {
  /** There may be something due for these endpoints; none named: for any. */
  wake(endpointIds?: readonly string[]): void;
  start(): void;
  /** Takes nothing more, waits for attempts under way, writes everything, gives the rest back. */
  stop(): Promise<void>;
  /** Works until nothing is due; answers how many attempts were made. */
  drain(): Promise<number>;
  /** Sends these now, past the lanes, with their retries; answers how they ended. */
  sendNow(uuids: readonly string[]): Promise<{ delivered: number; failed: number }>;
  readonly lanes: ReadonlyMap<string, Lane>;
  inFlight(): number;
}

/** See the README of this folder for how work flows. */
export function createWorker(parts: WorkerParts): Worker {
  const { host, store, attempt, circuits, elapsed } = parts;
  const { clock, log } = host;
  const lanes = new Map<string, Lane>();
  let finished: Attempted[] = [];
  let released: Job[] = [];
  let total = 0;
  let made = 0;
  let running = false;
  let turning: Promise<void> | null = null;
  let scheduled: 'no' | 'soon' | 'now' = 'no';
  let discover = false;
  let undoTimer: Undo | null = null;
  let undoHeartbeat: Undo | null = null;
  let idleCallbacks: (() => void)[] = [];

  const laneOf = (id: string): Lane => {
    const lane = lanes.get(id) ?? createLane(id);
    lanes.set(id, lane);
    return lane;
  };
  const mayStart = (lane: Lane): boolean =>
    total < mostInFlight && lane.inFlight < (lane.paused ? 1 : lane.limit) && (total < shared || lane.inFlight < Math.min(firstLimit, lane.limit));

  /** Takes turns, one job of each endpoint at a time. */
  function launch(): void {
    if (!running) return;
    for (let again = true; again; ) {
      again = false;
      for (const lane of lanes.values()) {
        if (lane.buffer.length === 0 || !mayStart(lane)) continue;
        const job = lane.buffer.shift();
        if (job === undefined) continue;
        again = lane.buffer.length > 0 || again;
        void send(lane, job);
      }
    }
  }

  async function send(lane: Lane, job: Job): Promise<void> {
    lane.inFlight += 1;
    total += 1;
    const attempted = await attempt(job, { probe: lane.paused });
    lane.inFlight -= 1;
    total -= 1;
    made += attempted.finish.made;
    if (attempted.outcome !== null) {
      const before = lane.limit;
      adapt(lane, attempted.outcome);
      if (lane.limit < before) giveBack(lane);
    }
    finished.push(attempted);
    launch();
    schedule();
  }

  /** A lane that has slowed down does not sit on what others could send. */
  function giveBack(lane: Lane): void {
    const surplus = lane.buffer.splice(Math.max(passSize, lane.limit));
    if (surplus.length === 0) return;
    released.push(...surplus);
    lane.ready = true;
  }

  function claimsOf(now: number): ClaimRequest[] {
    const claims: ClaimRequest[] = [];
    for (const lane of lanes.values()) {
      if (!lane.ready && lane.nextAt !== null && lane.nextAt <= now) lane.ready = true;
      if (!lane.ready) continue;
      const ordered = parts.isOrdered(lane.id);
      if (lane.paused) {
        if (lane.inFlight + lane.buffer.length === 0 && circuits.mayProbe(lane.id)) claims.push({ endpointId: lane.id, passes: 1, ordered, most: 1 });
        continue;
      }
      // As much again as may be under way waits here, so that a place is taken the moment it is free.
      if (lane.buffer.length > lane.limit / 2) continue;
      const wanted = lane.limit * 2 - lane.buffer.length - lane.inFlight;
      if (wanted > 0) claims.push({ endpointId: lane.id, passes: Math.ceil(wanted / passSize), ordered });
    }
    return claims;
  }

  async function turn(): Promise<void> {
    const [outcomes, back] = [finished, released];
    finished = [];
    released = [];
    try {
      if (discover) {
        discover = false;
        for (const id of await store.openEndpoints()) laneOf(id).ready = true;
      }
      const allowed = running && (await host.hooks.applyFiltersAsync('svc_event_delivery_queue_processing_enabled', true));
      const now = elapsed();
      const claims = allowed ? claimsOf(now) : [];
      if (outcomes.length + back.length + claims.length === 0) return;
      const { jobs, stale, idle } = await store.turn({ finished: outcomes.map(({ finish }) => finish), released: back, claims });
      for (const { endpointId } of claims) {
        const wait = idle.get(endpointId);
        const lane = laneOf(endpointId);
        if (wait === undefined) continue;
        lane.ready = false;
        lane.nextAt = wait === null ? null : elapsed() + Math.min(wait, longestSleep) + 1;
      }
      // Stopped while the claim was under way: nothing of it is sent.
      if (running) for (const job of jobs) laneOf(job.endpointId).buffer.push(job);
      else released.push(...jobs);
      const lost = new Set(stale.map(({ id }) => id));
      for (const attempted of outcomes) if (lost.has(attempted.finish.job.id)) log.warn('The outcome of a webhook delivery came too late: somebody else holds it by now.', { delivery: attempted.finish.job.uuid });
        else {
          const noting = settled(attempted);
          if (noting !== null) await noting;
        }
    } catch (error) {
      // What was done stays done: it is written with the next turn.
      finished.unshift(...outcomes);
      released.unshift(...back);
      log.error('The webhook queue could not reach the database; trying again.', { error });
      await clock.sleep(500).catch(() => undefined);
    }
  }

  /** Answers a promise only where the database has to be told of an endpoint's health. */
  function settled(attempted: Attempted): Promise<void> | null {
    const { finish, outcome } = attempted;
    const lane = laneOf(finish.job.endpointId);
    if (finish.state === 'pending') {
      const at = elapsed() + finish.delay + 1;
      lane.nextAt = lane.nextAt === null ? at : Math.min(lane.nextAt, at);
      lane.retried += 1;
    } else if (finish.state === 'delivered') lane.delivered += 1;
    else lane.failed += 1;
    if (parts.isOrdered(lane.id)) lane.ready = true;
    parts.written(attempted);
    if (outcome === null || circuits.isWell(lane.id, outcome)) return null;
    return circuits.note(lane.id, outcome).then((paused) => void (lane.paused = paused));
  }

  /** Soon when somebody waits for it, else when enough has gathered. */
  function schedule(): void {
    const starving = running && (discover || [...lanes.values()].some((lane) => lane.ready && lane.buffer.length === 0 && mayStart(lane) && (!lane.paused || circuits.mayProbe(lane.id))));
    const want = starving || finished.length >= fullBatch ? 'now' : finished.length + released.length > 0 ? 'soon' : 'no';
    if (want === 'now' && scheduled !== 'now') {
      scheduled = 'now';
      setImmediate(begin);
    } else if (want === 'soon' && scheduled === 'no') {
      scheduled = 'soon';
      clock.after(gather, () => { if (scheduled === 'soon') begin(); });
    } else if (want === 'no' && turning === null) rest();
  }

  function begin(): void {
    if (turning !== null) {
      scheduled = 'no';
      return;
    }
    scheduled = 'no';
    turning = turn().finally(() => {
      turning = null;
      launch();
      schedule();
    });
  }

  /** Nothing to do: sleeps until the next job falls due. */
  function rest(): void {
    undoTimer?.();
    undoTimer = null;
    const waits = [...lanes.values()].flatMap(({ nextAt, paused, id, ready }) => (paused ? (ready || nextAt !== null ? [elapsed() + circuits.untilProbe(id)] : []) : nextAt === null || ready ? [] : [nextAt]));
    if (running && waits.length > 0) undoTimer = clock.after(Math.max(1, Math.min(longestSleep, Math.min(...waits) - elapsed())), () => { dueAgain(); });
    if (total === 0 && finished.length === 0 && released.length === 0 && [...lanes.values()].every(({ buffer }) => buffer.length === 0)) for (const callback of idleCallbacks.splice(0)) callback();
  }

  function dueAgain(): void {
    const now = elapsed();
    for (const lane of lanes.values()) if (lane.nextAt !== null && lane.nextAt <= now) lane.ready = true;
    for (const lane of lanes.values()) if (lane.paused && circuits.mayProbe(lane.id)) lane.ready = true;
    schedule();
  }

  const whenIdle = (): Promise<void> =>
    new Promise((resolve) => {
      idleCallbacks.push(resolve);
      schedule();
    });

  async function beat(): Promise<void> {
    try {
      if (await store.heartbeat()) discover = true;
      schedule();
    } catch (error) {
      log.warn('The leases of webhook deliveries could not be lengthened; trying again.', { error });
    }
  }

  function resume(): void {
    running = true;
    discover = true;
    undoHeartbeat ??= clock.every(heartbeatInterval, () => void beat());
  }

  /** Unsent jobs go back; attempts under way are waited for. */
  async function finish(): Promise<void> {
    running = false;
    undoTimer?.();
    for (const lane of lanes.values()) released.push(...lane.buffer.splice(0));
    await whenIdle();
    undoHeartbeat?.();
    undoHeartbeat = null;
  }

  async function sendOne(job: Job): Promise<'delivered' | 'failed' | 'pending'> {
    let current = job;
    for (;;) {
      const attempted = await attempt(current, { probe: false });
      const { finish } = attempted;
      if (finish.state !== 'pending' || finish.delay > 2_000) {
        const { stale } = await store.turn({ finished: [finish], released: [], claims: [] });
        if (stale.length === 0) await settled(attempted);
        if (finish.state === 'pending') schedule();
        return finish.state;
      }
      const { stale } = await store.turn({ finished: [finish], released: [], claims: [] });
      if (stale.length > 0) return 'pending';
      await settled(attempted);
      await clock.sleep(finish.delay);
      const [again] = await store.claimThese([job.uuid]);
      if (again === undefined) return 'pending';
      current = again;
    }
  }

  return {
    lanes,
    inFlight: () => total,
    wake(endpointIds) {
      if (!running) return;
      if (endpointIds === undefined) discover = true;
      else for (const id of endpointIds) laneOf(id).ready = true;
      schedule();
    },
    start() {
      resume();
      schedule();
    },
    stop: finish,
    async drain() {
      const [before, was] = [made, running];
      resume();
      await whenIdle();
      if (!was) await finish();
      return made - before;
    },
    async sendNow(uuids) {
      const jobs = await store.claimThese(uuids);
      undoHeartbeat ??= clock.every(heartbeatInterval, () => void beat());
      const ends = await Promise.all(jobs.map(sendOne));
      return { delivered: ends.filter((end) => end === 'delivered').length, failed: ends.filter((end) => end === 'failed').length };
    },
  };
}

export type { Finish };
