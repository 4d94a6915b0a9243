import type { Undo } from '#plugin-api';
import type { CompletedAttempt } from '../attempt.ts';
import type { ClaimRequest, Heartbeat, Job, NextDueTimes } from '../store/store-contract.ts';
import type { Circuits } from './circuits.ts';
import { createHeartbeat, type LeaseHeartbeat } from './heartbeat.ts';
import {
  adjustConcurrency,
  claimsFor,
  createEndpointQueue,
  dropLost,
  initialConcurrency,
  recordResult,
  takeSurplus,
  setNextDue,
  nextWakeTime,
  type EndpointQueue,
} from './endpoint-queue.ts';
import { createOutcomeBuffer, type OutcomeBuffer } from './outcome-buffer.ts';
import { fullBatch, FlushScheduler, oncePerTick } from './flush-scheduler.ts';
import { createSendNow } from './send-now.ts';
import type { Worker, WorkerParts } from './worker-contract.ts';

/** Concurrent attempts of this process that quick endpoints share. */
const sharedConcurrency = 64;
/** Concurrent attempts of this process to all endpoints. */
const maxInFlight = 1_024;
/** Longest sleep before the database is asked again what is due, in milliseconds. */
const longestSleep = 60_000;
/** Milliseconds between attempts to reach the database, or to work a queue that a plugin blocks. */
const retryInterval = 500;

/** The README of `webhooks` describes how work flows. */
export function createWorker(parts: WorkerParts): Worker {
  return new QueueWorker(parts);
}

class QueueWorker implements Worker {
  readonly queues = new Map<string, EndpointQueue>();
  private readonly parts: WorkerParts;
  private readonly circuits: Circuits;
  private readonly elapsed: () => number;
  private readonly clock: WorkerParts['host']['clock'];
  private readonly outcomes: OutcomeBuffer;
  private readonly heartbeat: LeaseHeartbeat;
  private readonly sender: Worker['sendNow'];
  private released: Job[] = [];
  private total = 0;
  private attempts = 0;
  private running = false;
  private flushing: Promise<void> | null = null;
  private readonly scheduler: FlushScheduler;
  private discover = false;
  private undoTimer: Undo | null = null;
  private blockedUntil = -Infinity;
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
    this.scheduler = new FlushScheduler({
      clock,
      flush: () => {
        this.beginFlush();
      },
    });
    this.outcomes = createOutcomeBuffer({ clock, onChange: schedule });
    this.heartbeat = createHeartbeat({
      store,
      clock,
      log,
      elapsed,
      onHeartbeat: (heartbeat) => {
        this.onHeartbeat(heartbeat);
      },
    });
    this.sender = createSendNow({
      store,
      attempt,
      clock,
      log,
      onSettled: (completed) => this.onSettled(completed),
      isStopping: () => this.stopping,
      paused: () => circuits.load(),
      retryLater: (completed) => {
        this.outcomes.add(completed);
        schedule();
      },
    });
  }

  /** Lost jobs are not sent: another process holds them. */
  private onHeartbeat({ freed, isLost }: Pick<Heartbeat, 'freed' | 'isLost'>): void {
    for (const queue of this.queues.values()) dropLost(queue, isLost);
    if (freed) this.discover = true;
    this.launch();
    this.schedule();
  }

  private queueFor(id: string): EndpointQueue {
    const queue = this.queues.get(id) ?? createEndpointQueue(id);
    this.queues.set(id, queue);
    return queue;
  }

  private mayStart(queue: EndpointQueue): boolean {
    return (
      this.total < maxInFlight &&
      queue.inFlight < (queue.paused ? 1 : queue.limit) &&
      (this.total < sharedConcurrency || queue.inFlight < Math.min(initialConcurrency, queue.limit))
    );
  }

  /** Starts attempts round robin, one job of each endpoint at a time. */
  private launch(): void {
    if (!this.running || !this.heartbeat.isFresh()) return;
    for (let again = true; again;) {
      again = false;
      for (const queue of this.queues.values()) {
        if (queue.buffer.length === 0 || !this.mayStart(queue)) continue;
        const job = queue.buffer.shift();
        if (job === undefined) continue;
        again = queue.buffer.length > 0 || again;
        void this.send(queue, job);
      }
    }
  }

  private async send(queue: EndpointQueue, job: Job): Promise<void> {
    queue.inFlight += 1;
    this.total += 1;
    const completed = await this.parts.attempt(job, { probe: queue.paused });
    queue.inFlight -= 1;
    this.total -= 1;
    this.attempts += Number(completed.result.attempted);
    if (completed.outcome !== null) {
      const before = queue.limit;
      adjustConcurrency(queue, completed.outcome);
      if (queue.limit < before) this.released.push(...takeSurplus(queue));
    }
    this.outcomes.add(completed);
    this.launchAndSchedule();
  }

  /** Once for all attempts that end in one tick of the event loop: it looks at every endpoint. */
  private readonly launchAndSchedule = oncePerTick(() => {
    this.launch();
    this.schedule();
  });

  private async flush(): Promise<void> {
    const { batch, suspect } = this.outcomes.take();
    const released = this.released;
    this.released = [];
    let claims: ClaimRequest[] = [];
    try {
      if (!suspect && (await this.mayClaim()))
        claims = claimsFor(this.queues.values(), {
          now: this.elapsed(),
          ahead: this.parts.store.isRemote,
          mayProbe: ({ id }) => this.circuits.mayProbe(id),
        });
      if (batch.length + released.length + claims.length === 0) return;
      // Cleared before the claim: a wake-up during the claim is about jobs that the claim may not see.
      for (const { endpointId } of claims) Object.assign(this.queueFor(endpointId), { ready: false, nextAt: null });
      const { jobs, stale, nextDueIn } = await this.parts.store.exchange({
        finished: batch.map(({ result }) => result),
        released,
        claims,
      });
      this.outcomes.written();
      if (!this.running && released.length > 0)
        this.parts.onReleased([...new Set(released.map(({ endpointId }) => endpointId))]);
      // Stopped during the claim: its jobs are released unsent.
      if (this.running) for (const job of jobs) this.queueFor(job.endpointId).buffer.push(job);
      else this.released.push(...jobs);
      this.launch();
      await this.settleAll(batch, new Set(stale.map(({ id }) => id)));
      this.setNextDue(claims, await nextDueIn);
    } catch (error) {
      for (const { endpointId } of claims) this.queueFor(endpointId).ready = true;
      // The attempts were made: their results are written with the next exchange.
      this.outcomes.rejected(batch, this.parts.isUnavailable(error));
      this.released.unshift(...released);
      this.parts.host.log.error('Failed to update the webhook queue; retrying', {
        event: 'webhook_queue_failed',
        error,
      });
      await this.clock.sleep(retryInterval).catch(() => undefined);
    }
  }

  private setNextDue(claims: readonly ClaimRequest[], nextDueIn: NextDueTimes): void {
    for (const { endpointId } of claims)
      setNextDue(this.queueFor(endpointId), {
        wait: nextDueIn.get(endpointId),
        now: this.elapsed(),
        longest: longestSleep,
      });
  }

  private async mayClaim(): Promise<boolean> {
    if (!this.running || this.elapsed() < this.blockedUntil) return false;
    if (!(await this.parts.mayClaim())) {
      this.blockedUntil = this.elapsed() + retryInterval;
      this.clock.after(retryInterval + 1, () => {
        this.schedule();
      });
      return false;
    }
    if (this.discover) {
      const open = await this.parts.store.openEndpoints();
      this.discover = false;
      for (const id of open) this.queueFor(id).ready = true;
    }
    for (const queue of this.queues.values())
      if (queue.ready || queue.held) queue.held = this.parts.holdReason(queue.id) !== null;
    return true;
  }

  private async settleAll(batch: readonly CompletedAttempt[], lost: ReadonlySet<number>): Promise<void> {
    for (const completed of batch) {
      const { job } = completed.result;
      if (lost.has(job.id))
        this.parts.host.log.warn('Discarded a late delivery result: another node holds the lease', {
          event: 'webhook_result_discarded',
          delivery: job.uuid,
        });
      else {
        const recording = this.onSettled(completed);
        if (recording !== null) await recording;
      }
    }
  }

  /** Returns a promise only if the endpoint's circuit has to be stored. */
  private onSettled(completed: CompletedAttempt): Promise<void> | null {
    const { result, outcome } = completed;
    const queue = this.queueFor(result.job.endpointId);
    recordResult(queue, result, this.elapsed());
    if (result.job.orderKey !== null) queue.ready = true;
    this.parts.onSettled(completed);
    if (outcome === null || this.circuits.isHealthy(queue.id, outcome)) return null;
    return this.circuits.recordOutcome(queue.id, outcome).then(
      (paused) => void (queue.paused = paused),
      (error: unknown) => {
        this.parts.host.log.warn('Failed to store the health of a webhook endpoint', {
          event: 'webhook_circuit_write_failed',
          endpoint: queue.id,
          error,
        });
      },
    );
  }

  /** Whether an endpoint could send at once if the database had jobs for it. A plain loop: it runs after every attempt. */
  private isAnyIdle(): boolean {
    for (const queue of this.queues.values())
      if (
        queue.ready &&
        !queue.held &&
        queue.buffer.length === 0 &&
        this.mayStart(queue) &&
        (!queue.paused || this.circuits.mayProbe(queue.id))
      )
        return true;
    return false;
  }

  /** Flushes now if an endpoint is idle, a batch is full or no attempt is in flight; else after a short wait for more results. */
  private schedule(): void {
    const starving =
      this.running &&
      this.elapsed() >= this.blockedUntil &&
      this.heartbeat.isFresh() &&
      (this.discover || this.isAnyIdle());
    const urgency =
      starving || this.outcomes.count() >= fullBatch
        ? 'now'
        : this.outcomes.count() + this.released.length === 0
          ? 'no'
          : this.total > 0
            ? 'soon'
            : 'now';
    if (urgency === 'now') this.scheduler.now();
    else if (urgency === 'soon') this.scheduler.soon(this.total);
    else if (this.flushing === null) this.rest();
  }

  private beginFlush(): void {
    this.scheduler.begun();
    if (this.flushing !== null) return;
    this.flushing = this.flush().finally(() => {
      this.flushing = null;
      this.launch();
      this.schedule();
    });
  }

  /** Sleeps until the next job is due. */
  private rest(): void {
    this.undoTimer?.();
    this.undoTimer = null;
    const waits = [...this.queues.values()].flatMap((queue) =>
      nextWakeTime(queue, {
        now: this.elapsed(),
        probeAt: () => this.elapsed() + this.circuits.untilProbe(queue.id),
      }),
    );
    if (this.running && waits.length > 0)
      this.undoTimer = this.clock.after(
        Math.max(1, Math.min(longestSleep, Math.min(...waits) - this.elapsed())),
        () => {
          this.markDue();
        },
      );
    if (
      this.total + this.sendingNow + this.outcomes.count() === 0 &&
      this.released.length === 0 &&
      [...this.queues.values()].every(({ buffer }) => buffer.length === 0)
    )
      for (const callback of this.idleCallbacks.splice(0)) callback();
  }

  private markDue(): void {
    const now = this.elapsed();
    for (const queue of this.queues.values()) {
      if (queue.nextAt !== null && queue.nextAt <= now) queue.ready = true;
      // Looked at again before the next claim.
      queue.held = false;
    }
    for (const queue of this.queues.values()) if (queue.paused && this.circuits.mayProbe(queue.id)) queue.ready = true;
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

  /** Releases unsent jobs and waits for in-flight attempts. */
  private async finish(): Promise<void> {
    this.running = false;
    this.undoTimer?.();
    for (const queue of this.queues.values()) this.released.push(...queue.buffer.splice(0));
    this.outcomes.retryNow();
    await this.whenIdle();
    await this.heartbeat.stop();
  }

  inFlight(): number {
    return this.total;
  }

  wake(endpointIds?: readonly string[]): void {
    if (!this.running) return;
    if (endpointIds === undefined) this.discover = true;
    else for (const id of endpointIds) this.queueFor(id).ready = true;
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
    const [before, was] = [this.attempts, this.running];
    this.resume();
    await this.whenIdle();
    if (!was) await this.finish();
    return this.attempts - before;
  }

  // A property: it is passed on without its object.
  readonly sendNow: Worker['sendNow'] = async (uuids, options) => {
    this.sendingNow += 1;
    this.heartbeat.start();
    try {
      return await this.sender(uuids, options);
    } finally {
      this.sendingNow -= 1;
      this.schedule();
    }
  };
}
