import type { Undo } from '#plugin-api';
import type { Attempted } from '../attempt.ts';
import { passSize, type ClaimRequest, type Job, type Waits } from '../store/store-contract.ts';
import { createHeartbeat } from './heartbeat.ts';
import { adapt, claimOf, createLane, firstLimit, note, waitOf, type Lane } from './lane.ts';
import { createOutcomes } from './outcomes.ts';
import { createSendNow } from './send-now.ts';
import type { Worker, WorkerParts } from './worker-contract.ts';

/** Attempts at once of this process that its quick endpoints share. */
const shared = 64;
/** And of all its endpoints together. */
const mostInFlight = 1_024;
/** Milliseconds that outcomes wait for company before they are written. */
const gather = 4;
const fullBatch = 64;
/** Longest a worker trusts its own memory of what is due, in milliseconds. */
const longestSleep = 60_000;
/** Until the database is asked again, or a queue that is held is looked at again, in milliseconds. */
const pause = 500;

/** See the README of this folder for how work flows. */
export function createWorker(parts: WorkerParts): Worker {
  const { host, store, attempt, circuits, elapsed } = parts;
  const { clock, log } = host;
  const lanes = new Map<string, Lane>();
  const outcomes = createOutcomes({ clock, changed: schedule });
  let released: Job[] = [];
  let total = 0;
  let made = 0;
  let running = false;
  let turning: Promise<void> | null = null;
  let scheduled: 'no' | 'soon' | 'now' = 'no';
  let discover = false;
  let undoTimer: Undo | null = null;
  let heldUntil = -Infinity;
  let sendingNow = 0;
  let stopping = false;
  const idleCallbacks: (() => void)[] = [];

  const laneOf = (id: string): Lane => {
    const lane = lanes.get(id) ?? createLane(id);
    lanes.set(id, lane);
    return lane;
  };
  const mayStart = (lane: Lane): boolean =>
    total < mostInFlight && lane.inFlight < (lane.paused ? 1 : lane.limit) && (total < shared || lane.inFlight < Math.min(firstLimit, lane.limit));

  /** Takes turns, one job of each endpoint at a time. */
  function launch(): void {
    if (!running || !heartbeat.isFresh()) return;
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
    outcomes.add(attempted);
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

  const claimsOf = (now: number): ClaimRequest[] =>
    [...lanes.values()].flatMap((lane) => claimOf(lane, { now, mayProbe: () => circuits.mayProbe(lane.id) }));

  async function turn(): Promise<void> {
    const { batch, suspect } = outcomes.take();
    const back = released;
    released = [];
    let claims: ClaimRequest[] = [];
    try {
      if (!suspect && (await mayClaim())) claims = claimsOf(elapsed());
      if (batch.length + back.length + claims.length === 0) return;
      // Whoever wakes a lane while its claim is under way means jobs that the claim may not see: the lane stays ready then.
      for (const { endpointId } of claims) Object.assign(laneOf(endpointId), { ready: false, nextAt: null });
      const { jobs, stale, idle } = await store.turn({ finished: batch.map(({ finish }) => finish), released: back, claims });
      outcomes.written();
      // Stopped while the claim was under way: nothing of it is sent.
      if (running) for (const job of jobs) laneOf(job.endpointId).buffer.push(job);
      else released.push(...jobs);
      launch();
      await settleAll(batch, new Set(stale.map(({ id }) => id)));
      takeWaits(claims, await idle);
    } catch (error) {
      for (const { endpointId } of claims) laneOf(endpointId).ready = true;
      // What was done stays done: it is written with the next turn.
      outcomes.refused(batch, parts.isUnavailable(error));
      released.unshift(...back);
      log.error('The webhook queue could not be read or written; trying again.', { error });
      await clock.sleep(pause).catch(() => undefined);
    }
  }

  function takeWaits(claims: readonly ClaimRequest[], idle: Waits): void {
    for (const { endpointId } of claims) {
      const wait = idle.get(endpointId);
      const lane = laneOf(endpointId);
      if (wait === undefined) lane.ready = true;
      // A retry noted meanwhile may be nearer.
      else if (wait !== null) lane.nextAt = Math.min(lane.nextAt ?? Infinity, elapsed() + Math.min(wait, longestSleep) + 1);
    }
  }

  async function mayClaim(): Promise<boolean> {
    if (!running || elapsed() < heldUntil) return false;
    if (!(await parts.mayClaim())) {
      heldUntil = elapsed() + pause;
      clock.after(pause + 1, schedule);
      return false;
    }
    if (discover) {
      const open = await store.openEndpoints();
      discover = false;
      for (const id of open) laneOf(id).ready = true;
    }
    return true;
  }

  async function settleAll(batch: readonly Attempted[], lost: ReadonlySet<number>): Promise<void> {
    for (const attempted of batch) {
      const { job } = attempted.finish;
      if (lost.has(job.id)) log.warn('The outcome of a webhook delivery came too late: somebody else holds it by now.', { delivery: job.uuid });
      else {
        const noting = settled(attempted);
        if (noting !== null) await noting;
      }
    }
  }

  /** Answers a promise only where the database has to be told of an endpoint's health. */
  function settled(attempted: Attempted): Promise<void> | null {
    const { finish, outcome } = attempted;
    const lane = laneOf(finish.job.endpointId);
    note(lane, finish, elapsed());
    if (finish.job.orderKey !== null) lane.ready = true;
    parts.written(attempted);
    if (outcome === null || circuits.isWell(lane.id, outcome)) return null;
    return circuits.note(lane.id, outcome).then((paused) => void (lane.paused = paused), (error: unknown) => { log.warn('The health of a webhook endpoint could not be noted.', { endpoint: lane.id, error }); });
  }

  /** Soon when somebody waits for it, else when enough has gathered. */
  function schedule(): void {
    const starving = running && elapsed() >= heldUntil && heartbeat.isFresh() && (discover || [...lanes.values()].some((lane) => lane.ready && lane.buffer.length === 0 && mayStart(lane) && (!lane.paused || circuits.mayProbe(lane.id))));
    const want = starving || outcomes.count() >= fullBatch ? 'now' : outcomes.count() + released.length > 0 ? 'soon' : 'no';
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
    const waits = [...lanes.values()].flatMap((lane) => waitOf(lane, () => elapsed() + circuits.untilProbe(lane.id)));
    if (running && waits.length > 0) undoTimer = clock.after(Math.max(1, Math.min(longestSleep, Math.min(...waits) - elapsed())), dueAgain);
    if (total + sendingNow + outcomes.count() === 0 && released.length === 0 && [...lanes.values()].every(({ buffer }) => buffer.length === 0)) for (const callback of idleCallbacks.splice(0)) callback();
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

  const heartbeat = createHeartbeat({
    store, clock, log, elapsed,
    beaten({ freed, isLost }) {
      for (const lane of lanes.values()) {
        const kept = lane.buffer.filter((job) => !isLost(job));
        if (kept.length < lane.buffer.length) lane.ready = true;
        lane.buffer.splice(0, Infinity, ...kept);
      }
      if (freed) discover = true;
      launch();
      schedule();
    },
  });

  function resume(): void {
    running = true;
    discover = true;
    heartbeat.start();
  }

  /** Unsent jobs go back; attempts under way are waited for. */
  async function finish(): Promise<void> {
    running = false;
    undoTimer?.();
    for (const lane of lanes.values()) released.push(...lane.buffer.splice(0));
    outcomes.hurry();
    await whenIdle();
    await heartbeat.stop();
  }

  const sendNow = createSendNow({
    store, attempt, clock, log, settled, isStopping: () => stopping,
    later: (attempted) => {
      outcomes.add(attempted);
      schedule();
    },
  });

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
      stopping = false;
      resume();
      schedule();
    },
    stop() {
      stopping = true;
      return finish();
    },
    async drain() {
      const [before, was] = [made, running];
      resume();
      await whenIdle();
      if (!was) await finish();
      return made - before;
    },
    async sendNow(uuids) {
      sendingNow += 1;
      heartbeat.start();
      try {
        return await sendNow(uuids);
      } finally {
        sendingNow -= 1;
        schedule();
      }
    },
  };
}
