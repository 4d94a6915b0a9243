import type { Undo } from '#plugin-api';
import type { Attempted } from '../attempt.ts';
import type { ClaimRequest, Heartbeat, Job, Waits } from '../store/store-contract.ts';
import type { Circuits } from './circuits.ts';
import { createHeartbeat, type LeaseKeeper } from './heartbeat.ts';
import {
  adapt,
  claimsOf,
  createLane,
  dropLost,
  firstLimit,
  note,
  surplusOf,
  takeWait,
  waitOf,
  type Lane,
} from './lane.ts';
import { createOutcomes, type Outcomes } from './outcomes.ts';
import { fullBatch, Pace, together } from './pace.ts';
import { createSendNow } from './send-now.ts';
import type { Worker, WorkerParts } from './worker-contract.ts';

/** Attempts at once of this process that its quick endpoints share. */
const shared = 64;
/** And of all its endpoints together. */
const mostInFlight = 1_024;
/** Longest a worker trusts its own memory of what is due, in milliseconds. */
const longestSleep = 60_000;
/** Until the database is asked again, or a queue that is held is looked at again, in milliseconds. */
const pause = 500;

/** See the README of this folder for how work flows. */
export function createWorker(parts: WorkerParts): Worker {
  return new QueueWorker(parts);
}

class QueueWorker implements Worker {
  readonly lanes = new Map<string, Lane>();
  private readonly parts: WorkerParts;
  private readonly circuits: Circuits;
  private readonly elapsed: () => number;
  private readonly clock: WorkerParts['host']['clock'];
  private readonly outcomes: Outcomes;
  private readonly heartbeat: LeaseKeeper;
  private readonly sender: Worker['sendNow'];
  private released: Job[] = [];
  private total = 0;
  private made = 0;
  private running = false;
  private turning: Promise<void> | null = null;
  private readonly pace: Pace;
  private discover = false;
  private undoTimer: Undo | null = null;
  private heldUntil = -Infinity;
  private sendingNow = 0;
  private stopping = false;
  private readonly idleCallbacks: (() => void)[] = [];

  constructor(parts: WorkerParts) {
    const {
      host: { clock, log },
      store,
      attempt,
      circuits,
      elapsed,
    } = parts;
    this.parts = parts;
    this.circuits = circuits;
    this.elapsed = elapsed;
    this.clock = clock;
    const schedule = (): void => {
      this.schedule();
    };
    this.pace = new Pace({
      clock,
      turn: () => {
        this.begin();
      },
    });
    this.outcomes = createOutcomes({ clock, changed: schedule });
    this.heartbeat = createHeartbeat({
      store,
      clock,
      log,
      elapsed,
      beaten: (beat) => {
        this.beaten(beat);
      },
    });
    this.sender = createSendNow({
      store,
      attempt,
      clock,
      log,
      settled: (attempted) => this.settled(attempted),
      isStopping: () => this.stopping,
      later: (attempted) => {
        this.outcomes.add(attempted);
        schedule();
      },
    });
  }

  /** Lost jobs are somebody else's by now: they are not sent. */
  private beaten({ freed, isLost }: Pick<Heartbeat, 'freed' | 'isLost'>): void {
    for (const lane of this.lanes.values()) dropLost(lane, isLost);
    if (freed) this.discover = true;
    this.launch();
    this.schedule();
  }

  private laneOf(id: string): Lane {
    const lane = this.lanes.get(id) ?? createLane(id);
    this.lanes.set(id, lane);
    return lane;
  }

  private mayStart(lane: Lane): boolean {
    return (
      this.total < mostInFlight &&
      lane.inFlight < (lane.paused ? 1 : lane.limit) &&
      (this.total < shared || lane.inFlight < Math.min(firstLimit, lane.limit))
    );
  }

  /** Takes turns, one job of each endpoint at a time. */
  private launch(): void {
    if (!this.running || !this.heartbeat.isFresh()) return;
    for (let again = true; again;) {
      again = false;
      for (const lane of this.lanes.values()) {
        if (lane.buffer.length === 0 || !this.mayStart(lane)) continue;
        const job = lane.buffer.shift();
        if (job === undefined) continue;
        again = lane.buffer.length > 0 || again;
        void this.send(lane, job);
      }
    }
  }

  private async send(lane: Lane, job: Job): Promise<void> {
    lane.inFlight += 1;
    this.total += 1;
    const attempted = await this.parts.attempt(job, { probe: lane.paused });
    lane.inFlight -= 1;
    this.total -= 1;
    this.made += attempted.finish.made;
    if (attempted.outcome !== null) {
      const before = lane.limit;
      adapt(lane, attempted.outcome);
      if (lane.limit < before) this.released.push(...surplusOf(lane));
    }
    this.outcomes.add(attempted);
    this.goOn();
  }

  /** Once for all attempts that end in one turn of the event loop, however many endpoints there are to look at. */
  private readonly goOn = together(() => {
    this.launch();
    this.schedule();
  });

  private async turn(): Promise<void> {
    const { batch, suspect } = this.outcomes.take();
    const back = this.released;
    this.released = [];
    let claims: ClaimRequest[] = [];
    try {
      if (!suspect && (await this.mayClaim()))
        claims = claimsOf(this.lanes.values(), {
          now: this.elapsed(),
          ahead: this.parts.store.isElsewhere,
          mayProbe: ({ id }) => this.circuits.mayProbe(id),
        });
      if (batch.length + back.length + claims.length === 0) return;
      // Whoever wakes a lane while its claim is under way means jobs that the claim may not see: the lane stays ready then.
      for (const { endpointId } of claims) Object.assign(this.laneOf(endpointId), { ready: false, nextAt: null });
      const { jobs, stale, idle } = await this.parts.store.turn({
        finished: batch.map(({ finish }) => finish),
        released: back,
        claims,
      });
      this.outcomes.written();
      if (!this.running && back.length > 0) this.parts.gaveBack([...new Set(back.map(({ endpointId }) => endpointId))]);
      // Stopped while the claim was under way: nothing of it is sent.
      if (this.running) for (const job of jobs) this.laneOf(job.endpointId).buffer.push(job);
      else this.released.push(...jobs);
      this.launch();
      await this.settleAll(batch, new Set(stale.map(({ id }) => id)));
      this.takeWaits(claims, await idle);
    } catch (error) {
      for (const { endpointId } of claims) this.laneOf(endpointId).ready = true;
      // What was done stays done: it is written with the next turn.
      this.outcomes.refused(batch, this.parts.isUnavailable(error));
      this.released.unshift(...back);
      this.parts.host.log.error('The webhook queue could not be read or written; trying again.', { error });
      await this.clock.sleep(pause).catch(() => undefined);
    }
  }

  private takeWaits(claims: readonly ClaimRequest[], idle: Waits): void {
    for (const { endpointId } of claims)
      takeWait(this.laneOf(endpointId), { wait: idle.get(endpointId), now: this.elapsed(), longest: longestSleep });
  }

  private async mayClaim(): Promise<boolean> {
    if (!this.running || this.elapsed() < this.heldUntil) return false;
    if (!(await this.parts.mayClaim())) {
      this.heldUntil = this.elapsed() + pause;
      this.clock.after(pause + 1, () => {
        this.schedule();
      });
      return false;
    }
    if (this.discover) {
      const open = await this.parts.store.openEndpoints();
      this.discover = false;
      for (const id of open) this.laneOf(id).ready = true;
    }
    return true;
  }

  private async settleAll(batch: readonly Attempted[], lost: ReadonlySet<number>): Promise<void> {
    for (const attempted of batch) {
      const { job } = attempted.finish;
      if (lost.has(job.id))
        this.parts.host.log.warn('The outcome of a webhook delivery came too late: somebody else holds it by now.', {
          delivery: job.uuid,
        });
      else {
        const noting = this.settled(attempted);
        if (noting !== null) await noting;
      }
    }
  }

  /** Answers a promise only where the database has to be told of an endpoint's health. */
  private settled(attempted: Attempted): Promise<void> | null {
    const { finish, outcome } = attempted;
    const lane = this.laneOf(finish.job.endpointId);
    note(lane, finish, this.elapsed());
    if (finish.job.orderKey !== null) lane.ready = true;
    this.parts.written(attempted);
    if (outcome === null || this.circuits.isWell(lane.id, outcome)) return null;
    return this.circuits.note(lane.id, outcome).then(
      (paused) => void (lane.paused = paused),
      (error: unknown) => {
        this.parts.host.log.warn('The health of a webhook endpoint could not be noted.', { endpoint: lane.id, error });
      },
    );
  }

  /** Whether an endpoint could send at once, if the database had something for it. A loop: it is asked after every attempt. */
  private isAnyDry(): boolean {
    for (const lane of this.lanes.values())
      if (
        lane.ready &&
        lane.buffer.length === 0 &&
        this.mayStart(lane) &&
        (!lane.paused || this.circuits.mayProbe(lane.id))
      )
        return true;
    return false;
  }

  /** Soon when somebody waits for it, else when enough has gathered. */
  private schedule(): void {
    const starving =
      this.running &&
      this.elapsed() >= this.heldUntil &&
      this.heartbeat.isFresh() &&
      (this.discover || this.isAnyDry());
    const want =
      starving || this.outcomes.count() >= fullBatch
        ? 'now'
        : this.outcomes.count() + this.released.length > 0
          ? 'soon'
          : 'no';
    if (want === 'now') this.pace.now();
    else if (want === 'soon') this.pace.soon(this.total);
    else if (this.turning === null) this.rest();
  }

  private begin(): void {
    this.pace.begun();
    if (this.turning !== null) return;
    this.turning = this.turn().finally(() => {
      this.turning = null;
      this.launch();
      this.schedule();
    });
  }

  /** Nothing to do: sleeps until the next job falls due. */
  private rest(): void {
    this.undoTimer?.();
    this.undoTimer = null;
    const waits = [...this.lanes.values()].flatMap((lane) =>
      waitOf(lane, () => this.elapsed() + this.circuits.untilProbe(lane.id)),
    );
    if (this.running && waits.length > 0)
      this.undoTimer = this.clock.after(
        Math.max(1, Math.min(longestSleep, Math.min(...waits) - this.elapsed())),
        () => {
          this.dueAgain();
        },
      );
    if (
      this.total + this.sendingNow + this.outcomes.count() === 0 &&
      this.released.length === 0 &&
      [...this.lanes.values()].every(({ buffer }) => buffer.length === 0)
    )
      for (const callback of this.idleCallbacks.splice(0)) callback();
  }

  private dueAgain(): void {
    const now = this.elapsed();
    for (const lane of this.lanes.values()) if (lane.nextAt !== null && lane.nextAt <= now) lane.ready = true;
    for (const lane of this.lanes.values()) if (lane.paused && this.circuits.mayProbe(lane.id)) lane.ready = true;
    this.schedule();
  }

  private whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleCallbacks.push(resolve);
      this.schedule();
    });
  }

  private resume(): void {
    this.running = true;
    this.discover = true;
    this.heartbeat.start();
  }

  /** Unsent jobs go back; attempts under way are waited for. */
  private async finish(): Promise<void> {
    this.running = false;
    this.undoTimer?.();
    for (const lane of this.lanes.values()) this.released.push(...lane.buffer.splice(0));
    this.outcomes.hurry();
    await this.whenIdle();
    await this.heartbeat.stop();
  }

  inFlight(): number {
    return this.total;
  }

  wake(endpointIds?: readonly string[]): void {
    if (!this.running) return;
    if (endpointIds === undefined) this.discover = true;
    else for (const id of endpointIds) this.laneOf(id).ready = true;
    this.schedule();
  }

  start(): void {
    this.stopping = false;
    this.resume();
    this.schedule();
  }

  stop(): Promise<void> {
    this.stopping = true;
    return this.finish();
  }

  async drain(): Promise<number> {
    const [before, was] = [this.made, this.running];
    this.resume();
    await this.whenIdle();
    if (!was) await this.finish();
    return this.made - before;
  }

  // Handed on by itself.
  readonly sendNow = async (uuids: readonly string[]): Promise<{ delivered: number; failed: number }> => {
    this.sendingNow += 1;
    this.heartbeat.start();
    try {
      return await this.sender(uuids);
    } finally {
      this.sendingNow -= 1;
      this.schedule();
    }
  };
}
